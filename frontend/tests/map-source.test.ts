import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type MapListener, MapSource } from "../src/data/map-source";
import { LiveClient } from "../src/live/client";
import { setLiveClient } from "../src/live/current";
import { GROUPS, NAMES, gpu, held, node, nodes } from "./map";

const FRAME = { levels: ["rack"], groups: GROUPS, names: NAMES };

class Line extends EventTarget {
  readyState = 1;
  send(): void {}
  close(): void {}
  says(message: object): void {
    this.dispatchEvent(new MessageEvent("message", { data: JSON.stringify(message) }));
  }
}

function listener() {
  return {
    loaded: vi.fn<MapListener["loaded"]>(),
    changed: vi.fn<MapListener["changed"]>(),
    named: vi.fn<MapListener["named"]>(),
    failed: vi.fn<MapListener["failed"]>(),
  };
}

async function started(): Promise<{ line: Line; heard: ReturnType<typeof listener> }> {
  const line = new Line();
  const client = new LiveClient("ws://here", () => line as unknown as WebSocket);
  client.connect();
  setLiveClient(client);
  const heard = listener();
  await new MapSource("/map/", "cluster/1/map", heard).start();
  return { line, heard };
}

describe("MapSource", () => {
  const fetched = vi.fn(async () => new Response(JSON.stringify(FRAME)));

  beforeEach(() => {
    vi.useFakeTimers();
    vi.stubGlobal("fetch", fetched);
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  it("loads the snapshot, then passes on what changes", async () => {
    const { line, heard } = await started();
    line.says({ topic: "cluster/1/map", seq: 2, snapshot: nodes() });
    expect(heard.loaded.mock.calls[0]?.[1]).toHaveLength(4);
    line.says({ topic: "cluster/1/map", seq: 3, prev: 2, put: [{ ...node(2, "r0"), version: 3 }] });
    expect(heard.changed.mock.calls[0]?.[0]).toMatchObject([{ pk: 2 }]);
  });

  it("loads anew when a node leaves", async () => {
    const { line, heard } = await started();
    line.says({ topic: "cluster/1/map", seq: 2, snapshot: nodes() });
    line.says({ topic: "cluster/1/map", seq: 3, prev: 2, put: [], gone: ["node:4"] });
    expect(heard.loaded.mock.calls[1]?.[1]).toHaveLength(3);
  });

  it("asks for names when a job appears that has none", async () => {
    const { line, heard } = await started();
    line.says({ topic: "cluster/1/map", seq: 2, snapshot: [node(1, "r0", [gpu(0, held(77))])] });
    await vi.advanceTimersByTimeAsync(4000);
    expect(heard.named).toHaveBeenCalledOnce();
  });

  it("says that it waits when the line brings nothing", async () => {
    const { heard } = await started();
    await vi.advanceTimersByTimeAsync(9000);
    expect(heard.failed).toHaveBeenCalledOnce();
  });
});
