/** The cluster in columns: one slot per node, one per device. Painters read these arrays and nothing else. */
import type { Groups, WireGpu, WireNode } from "../data/nodes";

/** How a device is drawn. */
export const Glyph = { FREE: 0, USED: 1, SHARED: 2, NOMINATED: 3, OTHER: 4, BAD: 5, UNKNOWN: 6 } as const;
export type Glyph = (typeof Glyph)[keyof typeof Glyph];

export const NOBODY = -1;

export interface MapModel {
  nodes: WireNode[];
  slotOf: Map<number, number>;
  /** Names of network levels, outermost first. */
  levels: string[];
  groups: Groups;
  /** Per node: its first device, and one past the last node's last. shape (nodes + 1). */
  first: Int32Array;
  /** Per device. shape (devices). */
  node: Int32Array;
  glyph: Uint8Array;
  job: Float64Array;
  tenant: Int32Array;
  queue: Int32Array;
  /** Thousandths in use. */
  milli: Uint16Array;
  batch: Uint8Array;
  numa: Int8Array;
  group: Int8Array;
}

function glyphOf(gpu: WireGpu, ready: boolean): Glyph {
  if (gpu.health === "unhealthy" || gpu.health === "dirty") return Glyph.BAD;
  if (gpu.health === "unknown" || !ready) return Glyph.UNKNOWN;
  if (gpu.holds.some((hold) => hold.state === "held"))
    return gpu.holds.some((hold) => hold.kind !== "whole") ? Glyph.SHARED : Glyph.USED;
  if (gpu.others) return Glyph.OTHER;
  return gpu.holds.length ? Glyph.NOMINATED : Glyph.FREE;
}

function groupOf(model: MapModel, node: WireNode, index: number): number {
  return (model.groups[String(node.shape)] ?? []).findIndex((group) => group.includes(index));
}

function writeNode(model: MapModel, slot: number, node: WireNode): void {
  model.nodes[slot] = node;
  const start = model.first[slot] ?? 0;
  node.gpus.forEach((gpu, i) => {
    const at = start + i;
    const { holds } = gpu;
    const hold = holds.find((one) => one.state === "held") ?? holds[0];
    model.node[at] = slot;
    model.glyph[at] = glyphOf(gpu, node.ready);
    model.job[at] = hold?.job ?? NOBODY;
    model.tenant[at] = hold?.tenant ?? NOBODY;
    model.queue[at] = hold?.queue ?? NOBODY;
    model.milli[at] = Math.min(
      1000,
      holds.reduce((sum, one) => sum + one.milli, 0),
    );
    model.batch[at] = hold?.job_kind === "batch" ? 1 : 0;
    model.numa[at] = gpu.numa ?? 0;
    model.group[at] = groupOf(model, node, gpu.index);
  });
}

/** Nodes in the order of their domains, so that what is near in the network is near on the screen. */
function inOrder(nodes: WireNode[], levels: string[]): WireNode[] {
  const collator = new Intl.Collator("en", { numeric: true });
  const keys = new Map(
    nodes.map((node) => [node, [...levels.map((level) => node.domains[level] ?? ""), node.name].join("\u0001")]),
  );
  return [...nodes].sort((a, b) => collator.compare(keys.get(a) ?? "", keys.get(b) ?? ""));
}

export function buildModel(unordered: WireNode[], levels: string[], groups: Groups = {}): MapModel {
  const nodes = inOrder(unordered, levels);
  const first = new Int32Array(nodes.length + 1);
  nodes.forEach((node, i) => {
    first[i + 1] = (first[i] ?? 0) + node.gpus.length;
  });
  const devices = first[nodes.length] ?? 0;
  const model: MapModel = {
    nodes: [],
    slotOf: new Map(nodes.map((node, i) => [node.pk, i])),
    levels,
    groups,
    first,
    node: new Int32Array(devices),
    glyph: new Uint8Array(devices),
    job: new Float64Array(devices),
    tenant: new Int32Array(devices),
    queue: new Int32Array(devices),
    milli: new Uint16Array(devices),
    batch: new Uint8Array(devices),
    numa: new Int8Array(devices),
    group: new Int8Array(devices),
  };
  nodes.forEach((node, slot) => writeNode(model, slot, node));
  return model;
}

/** Writes changed nodes in place; false when the layout changed (a node came, left, moved or has other devices). */
export function updateModel(model: MapModel, changed: WireNode[]): boolean {
  for (const node of changed) {
    const slot = model.slotOf.get(node.pk);
    const known = slot === undefined ? undefined : model.nodes[slot];
    if (slot === undefined || !known || known.gpus.length !== node.gpus.length || known.shape !== node.shape)
      return false;
    if (model.levels.some((level) => known.domains[level] !== node.domains[level])) return false;
    writeNode(model, slot, node);
  }
  return true;
}

export interface DeviceFacts {
  node: WireNode;
  gpu: WireGpu;
}

export function deviceFacts(model: MapModel, device: number): DeviceFacts | null {
  const slot = model.node[device];
  const node = slot === undefined ? undefined : model.nodes[slot];
  const gpu = node?.gpus[device - (model.first[slot ?? 0] ?? 0)];
  return node && gpu ? { node, gpu } : null;
}
