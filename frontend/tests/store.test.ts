import { describe, expect, it } from "vitest";
import { TopicStore } from "../src/live/store";

const job = (id: number, version: number, state: string) => ({ id: `job:${id}`, version, state });

describe("TopicStore", () => {
  it("replaces everything by a snapshot", () => {
    const store = new TopicStore();
    store.replace(4, [job(1, 1, "queued")]);
    store.replace(9, [job(2, 3, "running")]);
    expect([...store.objects.keys()]).toEqual(["job:2"]);
    expect(store.seq).toBe(9);
  });

  it("applies a delta that follows what it has", () => {
    const store = new TopicStore();
    store.replace(4, [job(1, 1, "queued"), job(2, 1, "queued")]);
    const change = store.apply({ seq: 5, prev: 4, put: [job(1, 5, "running")], gone: ["job:2"] });
    expect(change).toMatchObject({ whole: false, gone: ["job:2"] });
    expect(store.objects.get("job:1")).toMatchObject({ state: "running" });
  });

  it("refuses a delta after a gap", () => {
    const store = new TopicStore();
    store.replace(4, []);
    expect(store.apply({ seq: 7, prev: 6, put: [job(1, 7, "running")] })).toBeNull();
    expect(store.objects.size).toBe(0);
  });

  it("keeps the newer of two versions of an object", () => {
    const store = new TopicStore();
    store.replace(4, [job(1, 8, "running")]);
    const change = store.apply({ seq: 5, prev: 4, put: [job(1, 3, "queued")] });
    expect(change?.put).toEqual([]);
    expect(store.objects.get("job:1")).toMatchObject({ state: "running" });
  });
});
