/**
 * The live line: one websocket for the whole page, any number of topics on it.
 *
 * After a break every topic is asked for again from the last sequence number it has, so nothing is missed and nothing shown twice.
 */
import { type LiveObject, type StoreChange, TopicStore } from "./store";

export type LineState = { state: "connecting" } | { state: "live" } | { state: "stale"; since: Date };

export interface TopicListener {
  changed?(change: StoreChange, store: TopicStore): void;
  /** Membership of a filtered list may have changed: fetch its page. */
  stale?(): void;
  denied?(): void;
}

interface Topic {
  store: TopicStore;
  listeners: Set<TopicListener>;
}

interface Message {
  topic: string;
  seq?: number | string;
  prev?: number | string;
  snapshot?: LiveObject[];
  put?: LiveObject[];
  gone?: (string | number)[];
  reset?: unknown;
  stale?: boolean;
  denied?: unknown;
}

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;
/** A line that says nothing for so long is asked whether it still lives. */
const QUIET_MS = 25_000;

export class LiveClient {
  private socket: WebSocket | null = null;
  private readonly topics = new Map<string, Topic>();
  private readonly watchers = new Set<(line: LineState) => void>();
  private waits = 0;
  private retry: ReturnType<typeof setTimeout> | null = null;
  private heard = Date.now();
  line: LineState = { state: "connecting" };

  constructor(
    private readonly url: string,
    private readonly open: (url: string) => WebSocket = (to) => new WebSocket(to),
  ) {}

  connect(): void {
    this.retry = null;
    const socket = this.open(this.url);
    this.socket = socket;
    socket.addEventListener("open", () => this.onOpen(socket));
    socket.addEventListener("message", (event) => this.onMessage(socket, event));
    socket.addEventListener("close", () => this.onClose(socket));
  }

  /** Watches a topic; what is known already is delivered at once. Returns how to stop. */
  subscribe(name: string, listener: TopicListener): () => void {
    let topic = this.topics.get(name);
    if (!topic) {
      topic = { store: new TopicStore(), listeners: new Set() };
      this.topics.set(name, topic);
      this.ask(name);
    } else if (topic.store.seq !== null) {
      listener.changed?.({ whole: true, put: [...topic.store.objects.values()], gone: [] }, topic.store);
    }
    topic.listeners.add(listener);
    return () => this.leave(name, listener);
  }

  watchLine(watcher: (line: LineState) => void): () => void {
    this.watchers.add(watcher);
    watcher(this.line);
    return () => this.watchers.delete(watcher);
  }

  /** Tries at once: the browser says that the network is back, or the page is looked at again. */
  wake(): void {
    if (this.retry) {
      clearTimeout(this.retry);
      this.waits = 0;
      this.connect();
    } else if (this.socket?.readyState === WebSocket.OPEN && Date.now() - this.heard > QUIET_MS) {
      for (const name of this.topics.keys()) this.ask(name);
    }
  }

  private leave(name: string, listener: TopicListener): void {
    const topic = this.topics.get(name);
    if (!topic?.listeners.delete(listener) || topic.listeners.size) return;
    this.topics.delete(name);
    this.send({ unsub: name });
  }

  private ask(name: string, anew = false): void {
    const seq = this.topics.get(name)?.store.seq;
    this.send(anew || seq === null || seq === undefined ? { sub: name } : { sub: name, since: seq });
  }

  private send(message: object): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  private onOpen(socket: WebSocket): void {
    if (socket !== this.socket) return;
    this.waits = 0;
    this.heard = Date.now();
    for (const name of this.topics.keys()) this.ask(name);
    this.setLine({ state: "live" });
  }

  private onClose(socket: WebSocket): void {
    if (socket !== this.socket) return;
    if (this.line.state !== "stale") this.setLine({ state: "stale", since: new Date() });
    const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** this.waits++) * (0.75 + Math.random() / 2);
    this.retry = setTimeout(() => this.connect(), wait);
  }

  private onMessage(socket: WebSocket, event: MessageEvent): void {
    if (socket !== this.socket) return;
    this.heard = Date.now();
    const message = JSON.parse(String(event.data)) as Message;
    const topic = this.topics.get(message.topic);
    if (topic) this.deliver(message, topic);
  }

  private deliver(message: Message, topic: Topic): void {
    if (message.denied) return topic.listeners.forEach((one) => one.denied?.());
    if (message.reset) return this.ask(message.topic, true);
    if (message.stale) return topic.listeners.forEach((one) => one.stale?.());
    if (message.seq === undefined) return;
    const change = message.snapshot
      ? topic.store.replace(message.seq, message.snapshot)
      : topic.store.apply({ ...message, seq: message.seq });
    if (!change) return this.ask(message.topic, true);
    for (const listener of topic.listeners) listener.changed?.(change, topic.store);
  }

  private setLine(line: LineState): void {
    this.line = line;
    for (const watcher of this.watchers) watcher(line);
  }
}
