/** Nodes as the map topic carries them. Jobs are opaque ids; names come from the page's own tenants. */

export type Health = "ok" | "unhealthy" | "dirty" | "unknown";

export interface WireHold {
  job: number;
  tenant: number;
  queue: number;
  kind: "whole" | "share" | "mig" | "slice" | "nic";
  milli: number;
  state: "held" | "nominated";
  job_kind: string;
  job_state: string;
  since: string;
}

export interface WireGpu {
  index: number;
  health: Health;
  /** Why it is not healthy. */
  why: string;
  numa: number | null;
  switch: number | null;
  flavor: string | null;
  /** Whether a pod that is not ours has it. */
  others: boolean;
  holds: WireHold[];
}

export interface WireNic {
  index: number;
  name: string;
  numa: number | null;
  switch: number | null;
  rdma: boolean;
}

export interface WireNode {
  id: string;
  pk: number;
  version: number;
  name: string;
  domains: Record<string, string>;
  ready: boolean;
  cordoned: boolean;
  shape: number | null;
  gpus: WireGpu[];
}

/** NVLink groups of a hardware shape, as lists of GPU indices. */
export type Groups = Record<string, number[][]>;

export interface Names {
  tenants: Record<string, string>;
  queues: Record<string, string>;
  jobs: Record<string, { name: string; url: string }>;
}
