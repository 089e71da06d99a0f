/** The part of the cluster that matters to one job: its own racks, so that a small gang is not lost among 10,000 nodes. */
import type { WireNode } from "../../data/nodes";

const FEW = 48;

function isOn(node: WireNode, job: number): boolean {
  return node.gpus.some((gpu) => gpu.holds.some((hold) => hold.job === job));
}

export function aroundJob(nodes: WireNode[], levels: string[], job: number): WireNode[] {
  const own = nodes.filter((node) => isOn(node, job));
  if (nodes.length <= FEW || !own.length) return nodes;
  const place = (node: WireNode) => levels.map((level) => node.domains[level] ?? "").join("/");
  const places = new Set(own.map(place));
  const near = nodes.filter((node) => places.has(place(node)));
  return near.length ? near : own;
}
