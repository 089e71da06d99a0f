/**
 * <mu-map src="…" topic="cluster/1/map" node-url="/nodes/0/" [job="12"] [colour="queue"]>
 * The cluster as nested frames of devices. The canvas is dumb: model, layout, colours and painter are pure modules of draw/.
 */
import { LitElement, html, nothing } from "lit";
import { property, state } from "lit/decorators.js";
import { type MapData, MapSource } from "../../data/map-source";
import type { Names, WireNode } from "../../data/nodes";
import { type Coloured, type Colouring, colourMap } from "../../draw/map-colours";
import { CELLS, type MapLayout, deviceAt, fittingCell, fittingWidth, layoutMap } from "../../draw/map-layout";
import { type MapModel, buildModel, deviceFacts, updateModel } from "../../draw/map-model";
import { type Arrow, walk } from "../../draw/map-walk";
import { type Palette, readPalette } from "../../draw/palette";
import { aroundJob } from "./around-job";
import { barView } from "./bar";
import { describe, whereTo } from "./describe";
import { legendView } from "./legend";
import { MapSurface } from "./surface";
import { tableView } from "./table";
import { placeTip } from "./tip";

const ROOM = 560;
const UPDATE_MS = 1000;

export class MapElement extends LitElement {
  @property() src = "";
  @property() topic = "";
  @property() job = "";
  @property() colour: Colouring = "queue";
  @property({ attribute: "node-url" }) nodeUrl = "";
  @state() private failure = "";
  @state() private showsTable = false;
  @state() private filter = new Set<string>();
  @state() private model: MapModel | null = null;
  @state() private coloured: Coloured | null = null;
  @state() private said = "";

  private names: Names = { tenants: {}, queues: {}, jobs: {} };
  private data: MapData = { levels: [], groups: {}, names: this.names };
  private layout: MapLayout | null = null;
  private palette: Palette | null = null;
  private surface: MapSurface | null = null;
  private source: MapSource | null = null;
  private cell = 0;
  private at = -1;
  private isKeyed = false;
  private frame = 0;
  private timer: ReturnType<typeof setTimeout> | null = null;
  private readonly observer = new ResizeObserver(() => this.onResize());
  private readonly onTheme = () => {
    this.palette = null;
    this.recolour();
  };

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    document.addEventListener("mu:theme", this.onTheme);
    this.observer.observe(this);
    this.source = new MapSource(this.src, this.topic || null, {
      loaded: (data, nodes) => this.onData(data, nodes),
      changed: (nodes) => this.onNodes(nodes),
      named: (names) => {
        this.names = names;
        this.recolour();
      },
      failed: (message) => {
        this.failure = message;
      },
    });
    void this.source.start();
    void document.fonts?.ready.then(() => this.paint());
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    document.removeEventListener("mu:theme", this.onTheme);
    this.observer.disconnect();
    this.source?.stop();
  }

  private onData(data: MapData, nodes: WireNode[]): void {
    this.failure = "";
    this.data = data;
    this.names = data.names;
    this.model = buildModel(
      this.job ? aroundJob(nodes, data.levels, Number(this.job)) : nodes,
      data.levels,
      data.groups,
    );
    this.layout = null;
    this.recolour();
  }

  private onNodes(nodes: WireNode[]): void {
    if (!this.model) return;
    const shown = this.job ? nodes.filter((node) => this.model?.slotOf.has(node.pk)) : nodes;
    if (updateModel(this.model, shown)) return this.recolour();
    const changed = new Set(shown.map((node) => node.pk));
    this.onData(this.data, [...this.model.nodes.filter((node) => !changed.has(node.pk)), ...shown]);
  }

  private recolour(): void {
    if (!this.model) return;
    this.palette ??= readPalette(this);
    const next = colourMap(this.model, this.colour, this.names, this.palette);
    // The legend is words; it follows at a pace at which it can be read.
    if (!this.coloured || this.timer === null) {
      this.timer = setTimeout(() => {
        this.timer = null;
        this.requestUpdate();
      }, UPDATE_MS);
      this.coloured = next;
    } else Object.assign(this.coloured, next);
    this.paint();
  }

  private onResize(): void {
    if (this.layout && this.layout.width === this.scroller?.clientWidth) return;
    this.layout = null;
    this.paint();
  }

  private get scroller(): HTMLElement | null {
    return this.querySelector(".map-scroll");
  }

  private ensureLayout(): MapLayout | null {
    const box = this.scroller;
    if (!box || !this.model || !box.clientWidth) return null;
    if (this.layout) return this.layout;
    if (!this.cell) this.cell = fittingCell(this.model, box.clientWidth, Math.min(ROOM, innerHeight * 0.6));
    this.layout = layoutMap(
      this.model,
      box.clientWidth,
      this.cell,
      fittingWidth(this.model, box.clientWidth, this.cell),
    );
    const stage = box.querySelector<HTMLElement>(".map-stage");
    if (stage) stage.style.height = `${this.layout.height}px`;
    return this.layout;
  }

  private isLit(): ((device: number) => boolean) | null {
    const { model, coloured, at, filter } = this;
    if (!model || !coloured) return null;
    const job = model.job[at] ?? -1;
    if (at >= 0 && job >= 0) return (device) => model.job[device] === job;
    if (this.job) return (device) => model.job[device] === Number(this.job);
    if (!filter.size) return null;
    const chosen = new Set(coloured.legend.flatMap((entry, i) => (filter.has(entry.key) ? [i] : [])));
    return (device) => chosen.has(coloured.entry[device] ?? -1);
  }

  private paint(): void {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.paintNow();
    });
  }

  /** Paints at once; public so that a benchmark can count frames. */
  paintNow(): void {
    const layout = this.ensureLayout();
    const box = this.scroller;
    const canvas = this.querySelector<HTMLCanvasElement>(".map-stage canvas");
    if (!layout || !box || !canvas || !this.model || !this.coloured || !this.palette) return;
    if (this.surface?.canvas !== canvas) this.surface = new MapSurface(canvas);
    this.surface.paint(
      { model: this.model, layout, coloured: this.coloured, palette: this.palette, isLit: this.isLit() },
      { left: box.scrollLeft, top: box.scrollTop, width: box.clientWidth, height: box.clientHeight },
      this.at,
      (device) => this.names.jobs[this.model?.job[device] ?? -1]?.name ?? null,
    );
  }

  protected override updated(): void {
    if (this.coloured) this.paint();
  }

  private goTo(device: number, keyed: boolean): void {
    if (device === this.at && keyed === this.isKeyed) return;
    this.at = device;
    this.isKeyed = keyed;
    const facts = this.model && device >= 0 ? deviceFacts(this.model, device) : null;
    if (facts && keyed) {
      this.said = describe(facts, this.names).join(", ");
      this.reveal(device);
    }
    this.showTip(facts ? describe(facts, this.names) : null);
    this.paint();
  }

  private reveal(device: number): void {
    const box = this.scroller;
    const y = this.layout?.deviceY[device] ?? 0;
    if (!box) return;
    if (y < box.scrollTop + 30) box.scrollTop = y - 60;
    else if (y > box.scrollTop + box.clientHeight - 40) box.scrollTop = y - box.clientHeight + 80;
  }

  private showTip(words: string[] | null): void {
    const tip = this.querySelector<HTMLElement>(".map-tip");
    const box = this.scroller;
    if (tip && box && this.layout) placeTip(tip, box, this.layout, words && { device: this.at, words });
  }

  private onPointer(event: PointerEvent): void {
    const box = this.scroller;
    if (!box || !this.model || !this.layout) return;
    const bounds = box.getBoundingClientRect();
    this.goTo(
      deviceAt(
        this.model,
        this.layout,
        event.clientX - bounds.left + box.scrollLeft,
        event.clientY - bounds.top + box.scrollTop,
      ),
      false,
    );
  }

  private open(): void {
    const facts = this.model && deviceFacts(this.model, this.at);
    const url = facts && whereTo(facts, this.names, this.nodeUrl);
    if (url) location.assign(url);
  }

  private onKey(event: KeyboardEvent): void {
    const layout = this.layout;
    if (!this.model || !layout) return;
    if (event.key === "Enter") this.open();
    else if (event.key === "Escape") this.goTo(-1, false);
    else if (event.key === "+" || event.key === "-") this.zoom(event.key === "+" ? 1 : -1);
    else if (event.key.startsWith("Arrow") || event.key === "Home" || event.key === "End")
      this.goTo(walk(this.model, layout, this.at, event.key as Arrow), true);
    else return;
    event.preventDefault();
  }

  private zoom(by: number): void {
    const box = this.scroller;
    const next = CELLS[Math.max(0, Math.min(CELLS.length - 1, CELLS.indexOf(this.cell) + by))];
    if (!box || !this.layout || next === undefined || next === this.cell) return;
    const share = (box.scrollTop + box.clientHeight / 2) / this.layout.height;
    this.cell = next;
    this.layout = null;
    const layout = this.ensureLayout();
    if (layout) box.scrollTop = share * layout.height - box.clientHeight / 2;
    this.showTip(null);
    this.paint();
  }

  private choose(colour: Colouring): void {
    this.colour = colour;
    this.filter = new Set();
    this.coloured = null;
    this.recolour();
  }

  private toggle(key: string): void {
    const next = new Set(this.filter);
    if (!next.delete(key)) next.add(key);
    this.filter = next;
  }

  protected override render(): unknown {
    if (this.failure)
      return html`<div class="blank">
        <h2>${this.failure}</h2>
        <p>It appears as soon as it can; the table of nodes is on the Cluster page.</p>
      </div>`;
    if (!this.model)
      return html`<div class="skeleton-rows" aria-hidden="true">
          <span class="skeleton w-80"></span><span class="skeleton w-60"></span><span class="skeleton w-40"></span>
        </div>
        <p class="sr-only" role="status">The map is loading.</p>`;
    const bar = barView(this.colour, this.showsTable, {
      choose: (colour) => this.choose(colour),
      zoom: (by) => this.zoom(by),
      toggleTable: () => (this.showsTable = !this.showsTable),
    });
    return html`${bar} ${this.view()}
      ${this.coloured ? legendView(this.coloured, this.palette, this.filter, (key) => this.toggle(key)) : nothing}
      <div class=${this.showsTable ? "map-table" : "sr-only"} tabindex=${this.showsTable ? 0 : -1}>
        ${tableView(this.model, this.names)}
      </div>`;
  }

  private view(): unknown {
    return html`<div class="map-view" ?hidden=${this.showsTable}>
      <div
        class="map-scroll"
        tabindex="0"
        role="application"
        aria-roledescription="cluster map"
        aria-label="Map of GPUs. Arrows walk devices, Enter opens, Escape leaves, plus and minus zoom."
        @scroll=${() => {
          this.showTip(null);
          this.paint();
        }}
        @pointermove=${this.onPointer}
        @pointerleave=${() => this.goTo(-1, false)}
        @click=${this.open}
        @keydown=${this.onKey}
        @blur=${() => this.goTo(-1, false)}
      >
        <div class="map-stage"><canvas aria-hidden="true"></canvas></div>
      </div>
      <div class="map-tip" hidden></div>
      <p class="sr-only" aria-live="polite">${this.said}</p>
    </div>`;
  }
}

customElements.define("mu-map", MapElement);
