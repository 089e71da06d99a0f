/** A device in words, and where Enter leads from it. */
import type { Names, WireHold } from "../../data/nodes";
import type { DeviceFacts } from "../../draw/map-model";
import { span } from "../../shell/ago";

const OTHERS = "another tenant";

function holder(hold: WireHold, names: Names): string[] {
  const job = names.jobs[hold.job];
  const part = hold.kind !== "whole" ? ` (${(hold.milli / 10).toFixed(0)} %)` : "";
  const since = `for ${span((Date.now() - new Date(hold.since).getTime()) / 1000)}`;
  const verb = hold.state === "nominated" ? "promised to " : "";
  return [
    `${verb}${job?.name ?? OTHERS}${part}`,
    names.queues[hold.queue] ?? names.tenants[hold.tenant] ?? "",
    since,
  ].filter(Boolean);
}

/** What is so: the node and device first, then who has it, then what is wrong with it. */
export function describe(facts: DeviceFacts, names: Names): string[] {
  const { node, gpu } = facts;
  const words = [`${node.name} · GPU ${gpu.index}`];
  if (gpu.flavor) words.push(gpu.flavor);
  const { holds } = gpu;
  if (holds.length) words.push(...holds.slice(0, 3).flatMap((hold) => holder(hold, names)));
  else if (gpu.others) words.push("a pod that is not ours");
  else words.push("free");
  if (gpu.health !== "ok") words.push(gpu.why || gpu.health);
  if (!node.ready) words.push("node not ready");
  if (node.cordoned) words.push("cordoned");
  return words;
}

export function whereTo(facts: DeviceFacts, names: Names, nodeUrl: string): string | null {
  const job = facts.gpu.holds.map((hold) => names.jobs[hold.job]).find(Boolean);
  if (job) return job.url;
  return nodeUrl ? nodeUrl.replace(/0(?=\/?$)/, String(facts.node.pk)) : null;
}
