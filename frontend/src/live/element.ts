/**
 * <mu-live topic="overview"> keeps what is inside it current:
 * - [data-live="cluster:1.gpus.used"] shows that field of that object;
 * - with `refresh`, the element fires `mu:refresh` (an htmx trigger) when anything changed, at most once a second.
 */
import { liveClient } from "./current";
import type { TopicStore } from "./store";

const REFRESH_MS = 1000;

export function fieldOf(store: TopicStore, path: string): unknown {
  const [id = "", ...rest] = path.split(".");
  return rest.reduce<unknown>(
    (value, name) => (value as Record<string, unknown> | undefined)?.[name],
    store.objects.get(id),
  );
}

export function figure(value: unknown): string {
  if (value === null || value === undefined || value === "") return "—";
  return typeof value === "number" ? value.toLocaleString("en").replaceAll(",", "\u202f") : String(value);
}

export class LiveElement extends HTMLElement {
  private stop: (() => void) | null = null;
  private timer: ReturnType<typeof setTimeout> | null = null;

  connectedCallback(): void {
    const topic = this.getAttribute("topic");
    const client = liveClient();
    if (!topic || !client) return;
    this.stop = client.subscribe(topic, {
      changed: (_, store) => this.onChange(store),
      stale: () => this.refresh(),
      denied: () => this.dispatchEvent(new CustomEvent("mu:denied", { bubbles: true })),
    });
  }

  disconnectedCallback(): void {
    this.stop?.();
    if (this.timer) clearTimeout(this.timer);
  }

  private onChange(store: TopicStore): void {
    for (const slot of this.querySelectorAll<HTMLElement>("[data-live]")) this.show(slot, store);
    // The first snapshot too: something may have changed between the rendering of the page and the subscription.
    this.refresh();
  }

  private show(slot: HTMLElement, store: TopicStore): void {
    const value = fieldOf(store, slot.dataset.live ?? "");
    if (value === undefined) return;
    const words = figure(value);
    if (slot.textContent === words) return;
    slot.textContent = words;
    slot.classList.remove("flash");
    requestAnimationFrame(() => slot.classList.add("flash"));
  }

  private refresh(): void {
    if (!this.hasAttribute("refresh") || this.timer) return;
    this.timer = setTimeout(() => {
      this.timer = null;
      this.dispatchEvent(new CustomEvent("mu:refresh"));
    }, REFRESH_MS);
  }
}
