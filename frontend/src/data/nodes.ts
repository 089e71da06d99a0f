/** Nodes as the map topic and the map's endpoint carry them. Jobs are opaque ids; names come from the page's own tenants. */

export type Health = "ok" | "unhealthy" | "dirty" | "unknown";

export interface WireHold {
  job: number;
  tenant: number;
  queue: number;
  kind?: "whole" | "share" | "mig" | "slice";
  milli?: number;
  state?: "held" | "nominated";
  batch?: boolean;
  since?: string;
}

/** What is left out is the usual: healthy, on NUMA node 0, nobody's. */
export interface WireGpu {
  index: number;
  health?: Health;
  reason?: string;
  numa?: number | null;
  switch?: number | null;
  flavor?: string;
  other?: boolean;
  holds?: WireHold[];
}

export interface WireNic {
  index: number;
  name: string;
  numa?: number | null;
  switch?: number | null;
  rdma?: boolean;
  health?: Health;
}

export interface WireNode {
  kind: "node";
  id: number;
  version: number;
  name: string;
  domains: Record<string, string>;
  ready: boolean;
  cordoned: boolean;
  shape?: string;
  /** NVLink groups as lists of GPU indices. */
  groups?: number[][];
  gpus: WireGpu[];
}

export interface Names {
  tenants: Record<string, string>;
  queues: Record<string, string>;
  jobs: Record<string, { name: string; url: string; owner?: string }>;
}
