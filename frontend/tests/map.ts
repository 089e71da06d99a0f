/** A small cluster for tests: two racks of two nodes with four GPUs. */
import type { WireGpu, WireNode } from "../src/data/nodes";

export const NAMES = { tenants: { 1: "vision" }, queues: { 1: "train", 2: "eval" }, jobs: { 5: { name: "llama", url: "/jobs/5/" } } };

export function gpu(index: number, more: Partial<WireGpu> = {}): WireGpu {
  return { index, numa: index < 2 ? 0 : 1, ...more };
}

export function held(job: number, more: object = {}): Partial<WireGpu> {
  return { holds: [{ job, tenant: 1, queue: 1, ...more }] };
}

export function node(id: number, rack: string, gpus: WireGpu[] = [0, 1, 2, 3].map((i) => gpu(i))): WireNode {
  return { kind: "node", id, version: 1, name: `n${id}`, domains: { rack }, ready: true, cordoned: false, groups: [[0, 1], [2, 3]], gpus };
}

export function nodes(): WireNode[] {
  return [node(3, "r1"), node(1, "r0", [gpu(0, held(5)), gpu(1, held(5)), gpu(2), gpu(3, { health: "unhealthy" })]), node(2, "r0"), node(4, "r1")];
}
