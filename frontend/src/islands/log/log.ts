/**
 * <mu-log src="…/logs/" topic="job/12" workers='["worker-0", …]' follow> — live or stored logs, one worker's or all together.
 * With a topic it learns of workers that come later, and begins again when the job does.
 */
import { LitElement, html, nothing } from "lit";
import { property, state } from "lit/decorators.js";
import { LogBuffer, findLines } from "../../data/log-buffer";
import { LogSource } from "../../data/log-source";
import { liveClient } from "../../live/current";
import type { LiveObject, TopicStore } from "../../live/store";
import { icon } from "../../shell/icon";
import { type RowContext, lineRow } from "./rows";

const ACTIVE = new Set(["starting", "running"]);
const ROW = 20;
const AROUND = 12;

/** Names of the workers among a job's objects, in rank order; those without a rank last. */
export function workerNames(objects: LiveObject[]): string[] {
  const rank = (object: LiveObject) => (typeof object.rank === "number" ? object.rank : Number.MAX_SAFE_INTEGER);
  return objects
    .filter((object) => object.id.startsWith("worker:"))
    .sort((a, b) => rank(a) - rank(b) || Number(a.index) - Number(b.index))
    .map((object) => `${String(object.role)}-${String(object.index)}`);
}

export class LogElement extends LitElement {
  @property() src = "";
  @property() topic = "";
  @property() label = "Logs";
  @property({ type: Array }) workers: string[] = [];
  @property({ type: Boolean }) follow = false;
  @state() private worker = "";
  @state() private status = "connecting";
  @state() private message = "";
  @state() private words = "";
  @state() private hits: number[] = [];
  @state() private hit = 0;
  @state() private count = 0;

  private readonly buffer = new LogBuffer();
  private readonly whole = new Set<number>();
  private source: LogSource | null = null;
  private leave: (() => void) | null = null;
  private frame = 0;

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.restart();
    const changed = (_: unknown, store: TopicStore) => this.onJob(store);
    this.leave = (this.topic && liveClient()?.subscribe(this.topic, { changed })) || null;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.source?.stop();
    this.leave?.();
  }

  private restart(): void {
    this.source?.stop();
    const url = new URL(this.src, location.href);
    if (this.worker) url.searchParams.set("worker", this.worker);
    url.searchParams.set("follow", "1");
    this.source = new LogSource(url.href, {
      text: (worker, chunk) => {
        this.buffer.append(worker || this.worker, chunk);
        this.schedule();
      },
      restarted: () => this.empty(),
      state: (status, message) => {
        this.status = status;
        this.message = message ?? "";
      },
    });
    void this.source.start();
  }

  private onJob(store: TopicStore): void {
    const objects = [...store.objects.values()];
    const names = workerNames(objects);
    if (names.length && names.join() !== this.workers.join()) this.workers = names;
    const isActive = objects.some((object) => object.id.startsWith("job:") && ACTIVE.has(String(object.state)));
    if (isActive && this.status === "ended") this.restart();
  }

  private empty(): void {
    this.buffer.clear();
    this.whole.clear();
    this.schedule();
  }

  private get view(): HTMLElement | null {
    return this.querySelector(".log-view");
  }

  private schedule(): void {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.count = this.buffer.lines.length;
      if (this.words) this.hits = findLines(this.buffer.lines, this.words);
      if (this.follow) this.toEnd();
      this.draw();
    });
  }

  private toEnd(): void {
    const view = this.view;
    const sheet = view?.querySelector<HTMLElement>(".log-sheet");
    if (!view || !sheet) return;
    sheet.style.height = `${this.buffer.lines.length * ROW}px`;
    view.scrollTop = view.scrollHeight;
  }

  /** Draws the rows that are seen, and a few around them. */
  private draw(): void {
    const view = this.view;
    const sheet = view?.querySelector<HTMLElement>(".log-sheet");
    if (!view || !sheet) return;
    const { lines } = this.buffer;
    sheet.style.height = `${lines.length * ROW}px`;
    const from = Math.max(0, Math.floor(view.scrollTop / ROW) - AROUND);
    const to = Math.min(lines.length, Math.ceil((view.scrollTop + view.clientHeight) / ROW) + AROUND);
    const context: RowContext = {
      words: this.words,
      current: this.hits[this.hit] ?? -1,
      showsWorker: !this.worker && this.workers.length > 1,
      workers: this.workers,
      whole: this.whole,
    };
    const rows: HTMLElement[] = [];
    for (let i = from; i < to; i++) {
      const line = lines[i];
      if (!line) continue;
      const row = lineRow(line, i, context);
      row.style.top = `${i * ROW}px`;
      rows.push(row);
    }
    sheet.replaceChildren(...rows);
  }

  private onScroll(): void {
    const view = this.view;
    if (!view) return;
    this.follow = view.scrollTop + view.clientHeight >= view.scrollHeight - ROW;
    this.draw();
  }

  private onClick(event: Event): void {
    const more = (event.target as Element).closest<HTMLElement>("[data-whole]");
    if (!more) return;
    this.whole.add(Number(more.dataset.whole));
    this.draw();
  }

  private search(words: string): void {
    this.words = words;
    this.hits = findLines(this.buffer.lines, words);
    this.hit = 0;
    this.showHit();
  }

  private step(by: number): void {
    if (!this.hits.length) return;
    this.hit = (this.hit + by + this.hits.length) % this.hits.length;
    this.showHit();
  }

  private showHit(): void {
    const line = this.hits[this.hit];
    const view = this.view;
    if (line !== undefined && view) {
      this.follow = false;
      view.scrollTop = line * ROW - view.clientHeight / 2;
    }
    this.draw();
  }

  private chooseWorker(worker: string): void {
    this.worker = worker;
    this.empty();
    this.restart();
  }

  private toggleFollow(): void {
    this.follow = !this.follow;
    if (this.follow) this.schedule();
  }

  private onSearchKey(event: KeyboardEvent): void {
    if (event.key !== "Enter") return;
    event.preventDefault();
    this.step(event.shiftKey ? -1 : 1);
  }

  private statusWords(): string {
    if (this.message) return this.message;
    const dropped = this.buffer.dropped ? `, ${this.buffer.dropped.toLocaleString("en")} earlier ones dropped` : "";
    const lines = `${this.count.toLocaleString("en")} ${this.count === 1 ? "line" : "lines"}${dropped}`;
    return this.status === "open" ? `${lines}, live` : this.status === "ended" ? `${lines}, complete` : lines;
  }

  protected override render(): unknown {
    return html`<div class="log-bar">
        ${this.workers.length > 1 ? this.workerChoice() : nothing}
        <span class="search search-sm"
          >${icon("search")}<input
            class="input"
            type="search"
            placeholder="Search"
            aria-label="Search in the log"
            spellcheck="false"
            @input=${(event: Event) => this.search((event.target as HTMLInputElement).value)}
            @keydown=${this.onSearchKey}
        /></span>
        ${this.words ? html`<span class="log-count" role="status">${this.hits.length ? `${this.hit + 1} of ${this.hits.length}` : "nothing found"}</span>` : nothing}
        <span class="end"
          ><span class="log-count" role="status">${this.statusWords()}</span>
          <button
            type="button"
            class="btn btn-quiet btn-sm"
            aria-pressed=${String(this.follow)}
            @click=${this.toggleFollow}
          >
            ${icon(this.follow ? "pause" : "follow")}${this.follow ? "Following" : "Follow"}
          </button></span
        >
      </div>
      <div
        class="log-view"
        ?data-empty=${this.count === 0}
        tabindex="0"
        role="region"
        aria-label=${this.label}
        @scroll=${this.onScroll}
        @click=${this.onClick}
      >
        <div class="log-sheet"></div>
        ${this.count === 0 ? html`<p class="log-note">${this.emptyWords()}</p>` : nothing}
      </div>`;
  }

  private emptyWords(): string {
    if (this.status === "ended" && !this.workers.length)
      return "It has no worker yet. Lines appear here as they are written.";
    if (this.status === "ended") return "It wrote nothing.";
    return this.message || "Nothing has been written yet. Lines appear here as they are written.";
  }

  private workerChoice(): unknown {
    return html`<span class="select select-sm"
      ><select
        class="input"
        aria-label="Worker"
        @change=${(event: Event) => this.chooseWorker((event.target as HTMLSelectElement).value)}
      >
        <option value="">All workers</option>
        ${this.workers.map((one) => html`<option value=${one}>${one}</option>`)}</select
      >${icon("chevron-down")}</span
    >`;
  }
}

customElements.define("mu-log", LogElement);
