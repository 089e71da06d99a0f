import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { LiveClient, type LineState } from "../src/live/client";

/** A line in memory: what the client sends is kept, what the server says is pushed in. */
class Line extends EventTarget {
  static all: Line[] = [];
  readyState = 0;
  sent: unknown[] = [];

  constructor() {
    super();
    Line.all.push(this);
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }

  opens(): void {
    this.readyState = 1;
    this.dispatchEvent(new Event("open"));
  }

  says(message: object): void {
    this.dispatchEvent(new MessageEvent("message", { data: JSON.stringify(message) }));
  }

  breaks(): void {
    this.readyState = 3;
    this.dispatchEvent(new Event("close"));
  }

  close(): void {
    this.readyState = 2;
  }
}

function connected(): { client: LiveClient; line: Line; states: LineState[] } {
  const client = new LiveClient("ws://here/ws/live", () => new Line() as unknown as WebSocket);
  const states: LineState[] = [];
  client.watchLine((state) => states.push(state));
  client.connect();
  const line = Line.all.at(-1) as Line;
  line.opens();
  return { client, line, states };
}

describe("LiveClient", () => {
  beforeEach(() => {
    Line.all = [];
    vi.useFakeTimers();
  });
  afterEach(() => vi.useRealTimers());

  it("delivers a snapshot, then what changes", () => {
    const { client, line } = connected();
    const seen: string[] = [];
    client.subscribe("overview", {
      changed: (change, store) => seen.push(`${change.whole}:${String(store.objects.get("cluster:1")?.used)}`),
    });
    line.says({ topic: "overview", seq: 3, snapshot: [{ id: "cluster:1", version: 3, used: 8 }] });
    line.says({ topic: "overview", seq: 4, prev: 3, put: [{ id: "cluster:1", version: 4, used: 16 }] });
    expect(line.sent).toEqual([{ sub: "overview" }]);
    expect(seen).toEqual(["true:8", "false:16"]);
  });

  it("asks anew when it missed something", () => {
    const { client, line } = connected();
    client.subscribe("overview", {});
    line.says({ topic: "overview", seq: 3, snapshot: [] });
    line.says({ topic: "overview", seq: 9, prev: 8, put: [] });
    expect(line.sent.at(-1)).toEqual({ sub: "overview" });
  });

  it("says since when it is stale, comes back, and resumes where it was", async () => {
    const { client, line, states } = connected();
    client.subscribe("job/7", {});
    line.says({ topic: "job/7", seq: 12, snapshot: [] });
    line.breaks();
    expect(states.at(-1)).toMatchObject({ state: "stale" });
    await vi.advanceTimersByTimeAsync(1000);
    const next = Line.all.at(-1) as Line;
    next.opens();
    expect(next).not.toBe(line);
    expect(next.sent).toEqual([{ sub: "job/7", since: 12 }]);
    expect(states.at(-1)).toEqual({ state: "live" });
  });

  it("is stale while nothing is published, though the socket is open", () => {
    const { line, states } = connected();
    line.says({ beat: 1, live: false });
    expect(states.at(-1)).toMatchObject({ state: "stale" });
    line.says({ beat: 2, live: true });
    expect(states.at(-1)).toEqual({ state: "live" });
  });

  it("takes a silent line for dead", async () => {
    const { line, states } = connected();
    await vi.advanceTimersByTimeAsync(12_000);
    line.says({ beat: 1, live: true });
    await vi.advanceTimersByTimeAsync(12_000);
    expect(states.at(-1)).toEqual({ state: "live" });
    await vi.advanceTimersByTimeAsync(9000);
    expect(states.some((one) => one.state === "stale")).toBe(true);
    expect(Line.all.length).toBeGreaterThan(1);
  });

  it("waits longer after each failure, but not for ever", async () => {
    const { line } = connected();
    line.breaks();
    for (let i = 0; i < 8; i++) {
      await vi.advanceTimersByTimeAsync(20_000);
      (Line.all.at(-1) as Line).breaks();
    }
    expect(Line.all.length).toBe(9);
  });

  it("tells that a topic is denied, and leaves a topic nobody watches", () => {
    const { client, line } = connected();
    const denied = vi.fn();
    const leave = client.subscribe("tenant/2/jobs", { denied });
    line.says({ topic: "tenant/2/jobs", denied: true });
    leave();
    expect(denied).toHaveBeenCalledOnce();
    expect(line.sent.at(-1)).toEqual({ unsub: "tenant/2/jobs" });
  });
});
