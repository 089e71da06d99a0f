/** How the devices of a node hang together, in the terms of its picture. */
import type { WireGpu, WireNic } from "../data/nodes";

export function numaOrder(gpus: WireGpu[], nics: WireNic[]): number[] {
  return [...new Set([...gpus, ...nics].map((device) => device.numa ?? 0))].sort((a, b) => a - b);
}

/** GPUs by PCIe switch, in order; null gathers those that hang on none. */
export function switchesOf(gpus: WireGpu[]): [number | null, WireGpu[]][] {
  const groups = new Map<number | null, WireGpu[]>();
  for (const gpu of gpus) groups.set(gpu.switch, [...(groups.get(gpu.switch) ?? []), gpu]);
  return [...groups].sort(([a], [b]) => (a ?? -1) - (b ?? -1));
}

export interface Link {
  short: string;
  strength: "" | "single" | "double";
  words: string;
}

/** The best way from one GPU to another: NVLink, one switch, one NUMA node, or across sockets. */
export function linkOf(a: WireGpu, b: WireGpu, links: number[][]): Link {
  if (a.index === b.index) return { short: "", strength: "", words: `GPU ${a.index}` };
  const count = links[a.index]?.[b.index] ?? 0;
  if (count > 1) return { short: `NV${count}`, strength: "double", words: `${count} NVLinks` };
  if (count === 1) return { short: "NV1", strength: "single", words: "NVLink" };
  if (a.switch !== null && a.switch === b.switch) return { short: "PIX", strength: "", words: "one PCIe switch" };
  if ((a.numa ?? 0) === (b.numa ?? 0)) return { short: "NODE", strength: "", words: "one NUMA node" };
  return { short: "SYS", strength: "", words: "across sockets" };
}
