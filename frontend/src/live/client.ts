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
  topic?: string;
  seq?: number;
  prev?: number;
  snapshot?: LiveObject[];
  put?: LiveObject[];
  gone?: string[];
  reset?: unknown;
  stale?: boolean;
  denied?: unknown;
  /** A sign of life, every few seconds, that says whether changes are being published. */
  beat?: number;
  live?: boolean;
}

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;
/** The server beats every 5 s; a line that is silent for so long is dead, whatever the socket says. */
const SILENT_MS = 16_000;
const LOOK_MS = 4000;

export class LiveClient {
  private socket: WebSocket | null = null;
  private readonly topics = new Map<string, Topic>();
  private readonly watchers = new Set<(line: LineState) => void>();
  private waits = 0;
  private retry: ReturnType<typeof setTimeout> | null = null;
  private heard = Date.now();
  private pulse: ReturnType<typeof setInterval> | null = null;
  line: LineState = { state: "connecting" };

  constructor(
    private readonly url: string,
    private readonly open: (url: string) => WebSocket = (to) => new WebSocket(to),
  ) {}

  connect(): void {
    this.retry = null;
    this.heard = Date.now();
    this.pulse ??= setInterval(() => this.look(), LOOK_MS);
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
    } else this.look();
  }

  /** Drops a line that has been silent for too long: a laptop that slept does not notice that its socket died. */
  private look(): void {
    const { socket } = this;
    if (!socket || this.retry || Date.now() - this.heard < SILENT_MS) return;
    socket.close();
    this.onClose(socket);
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
    this.socket = null;
    if (this.line.state !== "stale") this.setLine({ state: "stale", since: new Date() });
    const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** this.waits++) * (0.75 + Math.random() / 2);
    this.retry = setTimeout(() => this.connect(), wait);
  }

  private onMessage(socket: WebSocket, event: MessageEvent): void {
    if (socket !== this.socket) return;
    this.heard = Date.now();
    const message = JSON.parse(String(event.data)) as Message;
    if (message.beat !== undefined) return this.onBeat(message.live !== false);
    const topic = this.topics.get(message.topic ?? "");
    if (topic) this.deliver(message.topic ?? "", message, topic);
  }

  private onBeat(isPublished: boolean): void {
    if (isPublished) this.setLine({ state: "live" });
    else if (this.line.state !== "stale") this.setLine({ state: "stale", since: new Date() });
  }

  private deliver(name: string, message: Message, topic: Topic): void {
    if (message.denied) return topic.listeners.forEach((one) => one.denied?.());
    if (message.reset) return this.ask(name, true);
    if (message.stale) return topic.listeners.forEach((one) => one.stale?.());
    if (message.seq === undefined) return;
    const change = message.snapshot
      ? topic.store.replace(message.seq, message.snapshot)
      : topic.store.apply({ ...message, seq: message.seq });
    if (!change) return this.ask(name, true);
    for (const listener of topic.listeners) listener.changed?.(change, topic.store);
  }

  private setLine(line: LineState): void {
    if (line.state === "live" && this.line.state === "live") return;
    this.line = line;
    for (const watcher of this.watchers) watcher(line);
  }
}
