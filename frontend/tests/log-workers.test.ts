import { expect, it } from "vitest";
import { workerNames } from "../src/islands/log/log";

const worker = (pk: number, role: string, index: number, rank: number | null) => ({
  id: `worker:${pk}`,
  version: 1,
  role,
  index,
  rank,
});

it("names workers in rank order, those without a rank last", () => {
  const objects = [
    worker(3, "launcher", 0, null),
    worker(1, "worker", 1, 1),
    { id: "job:9", version: 1 },
    worker(2, "worker", 0, 0),
  ];
  expect(workerNames(objects)).toEqual(["worker-0", "worker-1", "launcher-0"]);
});
