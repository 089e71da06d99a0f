/** A small cluster for tests: two racks of two nodes with four GPUs. */
import type { WireGpu, WireNode } from "../src/data/nodes";

export const GROUPS = {
  1: [
    [0, 1],
    [2, 3],
  ],
};
export const NAMES = {
  tenants: { 1: "vision" },
  queues: { 1: "train", 2: "eval" },
  jobs: { 5: { name: "llama", url: "/jobs/5/" } },
};

export function gpu(index: number, more: Partial<WireGpu> = {}): WireGpu {
  return {
    index,
    health: "ok",
    why: "",
    numa: index < 2 ? 0 : 1,
    switch: null,
    flavor: "H100-80GB",
    others: false,
    holds: [],
    ...more,
  };
}

export function held(job: number, more: object = {}): Partial<WireGpu> {
  return {
    holds: [
      {
        job,
        tenant: 1,
        queue: 1,
        kind: "whole",
        milli: 1000,
        state: "held",
        job_kind: "training",
        job_state: "running",
        since: "2026-01-01T00:00:00Z",
        ...more,
      },
    ],
  };
}

export function node(id: number, rack: string, gpus: WireGpu[] = [0, 1, 2, 3].map((i) => gpu(i))): WireNode {
  return {
    id: `node:${id}`,
    pk: id,
    version: 1,
    name: `n${id}`,
    domains: { rack },
    ready: true,
    cordoned: false,
    shape: 1,
    gpus,
  };
}

export function nodes(): WireNode[] {
  return [
    node(3, "r1"),
    node(1, "r0", [gpu(0, held(5)), gpu(1, held(5)), gpu(2), gpu(3, { health: "unhealthy" })]),
    node(2, "r0"),
    node(4, "r1"),
  ];
}
