/** The nodes of a cluster: what changes comes by the map topic; levels, wiring and names, which hardly do, over HTTP. */
import { liveClient } from "../live/current";
import type { StoreChange, TopicStore } from "../live/store";
import type { Groups, Names, WireNode } from "./nodes";

export interface MapData {
  levels: string[];
  groups: Groups;
  names: Names;
  /** Absent where the topic brings them. */
  nodes?: WireNode[];
}

export interface MapListener {
  /** Everything anew. */
  loaded(data: MapData, nodes: WireNode[]): void;
  /** These nodes changed. */
  changed(nodes: WireNode[]): void;
  /** Jobs got names. */
  named(names: Names): void;
  failed(message: string): void;
}

const NAMES_EVERY_MS = 3000;
/** So long the line may take to bring the nodes before the map says that it waits for it. */
const PATIENCE_MS = 8000;

export class MapSource {
  private leave: (() => void) | null = null;
  private data: MapData | null = null;
  private asking: ReturnType<typeof setTimeout> | null = null;
  private patience: ReturnType<typeof setTimeout> | null = null;

  constructor(
    private readonly url: string,
    private readonly topic: string | null,
    private readonly listener: MapListener,
  ) {}

  async start(): Promise<void> {
    try {
      const answer = await fetch(this.url, { headers: { Accept: "application/json" } });
      if (!answer.ok) throw new Error(String(answer.status));
      this.data = (await answer.json()) as MapData;
      if (this.data.nodes) this.listener.loaded(this.data, this.data.nodes);
    } catch {
      return this.listener.failed("The map could not be loaded.");
    }
    if (!this.data.nodes)
      this.patience = setTimeout(
        () => this.listener.failed("The map comes by the live line, which is down."),
        PATIENCE_MS,
      );
    const client = liveClient();
    if (client && this.topic)
      this.leave = client.subscribe(this.topic, { changed: (change, store) => this.onChange(change, store) });
  }

  stop(): void {
    this.leave?.();
    if (this.asking) clearTimeout(this.asking);
    if (this.patience) clearTimeout(this.patience);
  }

  private onChange(change: StoreChange, store: TopicStore): void {
    if (!this.data) return;
    if (this.patience) clearTimeout(this.patience);
    const nodes = change.put as unknown as WireNode[];
    if (change.whole || change.gone.length)
      this.listener.loaded(this.data, [...store.objects.values()] as unknown as WireNode[]);
    else if (nodes.length) this.listener.changed(nodes);
    if (nodes.some((node) => this.hasUnnamed(node))) this.askNames();
  }

  private hasUnnamed(node: WireNode): boolean {
    return node.gpus.some((gpu) => gpu.holds.some((hold) => !this.data?.names.jobs[hold.job]));
  }

  /** Opaque ids became known: asks, at most every few seconds, which of them are ours. */
  private askNames(): void {
    if (this.asking) return;
    this.asking = setTimeout(async () => {
      this.asking = null;
      const answer = await fetch(`${this.url}${this.url.includes("?") ? "&" : "?"}names=1`).catch(() => null);
      if (!answer?.ok || !this.data) return;
      this.data.names = ((await answer.json()) as { names: Names }).names;
      this.listener.named(this.data.names);
    }, NAMES_EVERY_MS);
  }
}
