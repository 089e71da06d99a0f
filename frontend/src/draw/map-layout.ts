/** Where every domain, node and device lies, in CSS pixels. Pure: same model, width and cell, same layout. */
import type { MapModel } from "./map-model";

export interface Frame {
  x: number;
  y: number;
  w: number;
  h: number;
  label: string;
  /** Level of the domain: 0 outermost. */
  depth: number;
}

export interface MapLayout {
  /** Height of a device. */
  cell: number;
  /** Width of a device: more than its height where the screen has room to spare. */
  wide: number;
  width: number;
  height: number;
  frames: Frame[];
  labelWidth: number;
  /** Per node: its strip. shape (nodes). */
  nodeX: Int32Array;
  nodeY: Int32Array;
  nodeW: Int32Array;
  nodeH: Int32Array;
  /** Per device: its upper left corner. shape (devices). */
  deviceX: Int32Array;
  deviceY: Int32Array;
}

/** Device sizes that zoom steps through. */
export const CELLS = [2, 3, 4, 5, 6, 7, 9, 11, 14, 18, 24, 32];

/** Distances that follow from the device size. */
interface Metrics {
  gap: number;
  groupGap: number;
  numaGap: number;
  padX: number;
  padY: number;
  rowGap: number;
  label: number;
  framePad: number;
  frameLabel: number;
  frameGap: number;
  rows: number;
}

const CHARACTER = 6.9;
const LONGEST_LABEL = 132;

function metricsOf(cell: number, longestName: number): Metrics {
  const large = cell >= 9;
  return {
    gap: cell >= 9 ? 2 : 1,
    groupGap: cell >= 9 ? 6 : cell >= 5 ? 3 : 1,
    numaGap: cell >= 9 ? 5 : cell >= 5 ? 2 : 1,
    padX: large ? 4 : cell >= 5 ? 1 : 0,
    padY: large ? 3 : cell >= 5 ? 1 : 0,
    rowGap: large ? 4 : 1,
    label: large ? Math.min(LONGEST_LABEL, Math.ceil(longestName * CHARACTER) + 10) : 0,
    framePad: large ? 8 : cell >= 5 ? 5 : 3,
    frameLabel: cell >= 5 ? 18 : 0,
    frameGap: large ? 12 : cell >= 5 ? 8 : 4,
    rows: large ? 10 : cell >= 5 ? 16 : 20,
  };
}

const BLOCK_LABEL = 22;

interface Domain {
  label: string;
  /** Node slots [from, to): nodes are ordered by domain. */
  from: number;
  to: number;
}

function domainsWithin(model: MapModel, level: string, from: number, to: number): Domain[] {
  const found: Domain[] = [];
  for (let slot = from; slot < to; slot++) {
    const label = model.nodes[slot]?.domains[level] ?? "";
    const last = found.at(-1);
    if (last && last.label === label) last.to = slot + 1;
    else found.push({ label, from: slot, to: slot + 1 });
  }
  return found;
}

/** Extra distance before device `at`: another NVLink group, or the other NUMA half. */
function joint(model: MapModel, at: number, metrics: Metrics): number {
  const groupEnds = model.group[at] !== model.group[at - 1];
  if (groupEnds) return metrics.groupGap;
  return model.numa[at] === model.numa[at - 1] ? 0 : metrics.numaGap;
}

export class LayoutBuilder {
  private readonly metrics: Metrics;
  private readonly out: MapLayout;

  constructor(
    private readonly model: MapModel,
    width: number,
    cell: number,
    wide: number,
  ) {
    const longest = model.nodes.reduce((most, node) => Math.max(most, node.name.length), 0);
    this.metrics = metricsOf(cell, longest);
    const nodes = model.nodes.length;
    const devices = model.node.length;
    this.out = {
      cell,
      wide,
      width,
      height: 0,
      frames: [],
      labelWidth: this.metrics.label,
      nodeX: new Int32Array(nodes),
      nodeY: new Int32Array(nodes),
      nodeW: new Int32Array(nodes),
      nodeH: new Int32Array(nodes),
      deviceX: new Int32Array(devices),
      deviceY: new Int32Array(devices),
    };
  }

  build(): MapLayout {
    const { levels, nodes } = this.model;
    const outer = levels.slice(0, -1);
    const inner = levels.at(-1);
    const end = this.section({ outer, inner, from: 0, to: nodes.length, depth: 0 }, 16, 12);
    this.out.height = end + 12;
    return this.out;
  }

  /** Lays out the levels around the innermost one, each a section of full width; returns where it ends. */
  private section(
    part: { outer: string[]; inner: string | undefined; from: number; to: number; depth: number },
    x: number,
    top: number,
  ): number {
    const [level, ...rest] = part.outer;
    if (level === undefined) return this.flow(part, x, top);
    let y = top;
    for (const domain of domainsWithin(this.model, level, part.from, part.to)) {
      const frame = { x, y, w: this.out.width - 2 * x, h: 0, label: domain.label || `no ${level}`, depth: part.depth };
      this.out.frames.push(frame);
      y = this.section(
        { ...part, outer: rest, from: domain.from, to: domain.to, depth: part.depth + 1 },
        x,
        y + BLOCK_LABEL,
      );
      frame.h = y - frame.y;
      y += this.metrics.frameGap;
    }
    return y - this.metrics.frameGap;
  }

  /** Innermost domains side by side, wrapping; returns where the last row ends. */
  private flow(
    part: { inner: string | undefined; from: number; to: number; depth: number },
    left: number,
    top: number,
  ): number {
    const { frameGap } = this.metrics;
    const right = this.out.width - left;
    const domains =
      part.inner === undefined
        ? [{ label: "", from: part.from, to: part.to }]
        : domainsWithin(this.model, part.inner, part.from, part.to);
    let x = left;
    let y = top;
    let rowHeight = 0;
    for (const domain of domains) {
      const size = this.measure(domain);
      if (x > left && x + size.w > right) {
        x = left;
        y += rowHeight + frameGap;
        rowHeight = 0;
      }
      this.rack(domain, { x, y, depth: part.depth, ...size });
      x += size.w + frameGap;
      rowHeight = Math.max(rowHeight, size.h);
    }
    return y + rowHeight;
  }

  private stripWidth(slot: number): number {
    const { model, metrics, out } = this;
    const start = model.first[slot] ?? 0;
    const end = model.first[slot + 1] ?? start;
    if (end === start) return out.wide + 2 * metrics.padX;
    let width = 2 * metrics.padX + (end - start) * out.wide + (end - start - 1) * metrics.gap;
    for (let at = start + 1; at < end; at++) width += joint(model, at, metrics);
    return width;
  }

  private columnWidth(domain: Domain): number {
    let widest = 0;
    for (let slot = domain.from; slot < domain.to; slot++) widest = Math.max(widest, this.stripWidth(slot));
    return widest + this.metrics.label;
  }

  private rowsOf(domain: Domain): number {
    const count = domain.to - domain.from;
    return Math.ceil(count / Math.ceil(count / this.metrics.rows));
  }

  private measure(domain: Domain): { w: number; h: number; column: number } {
    const { framePad, frameLabel, rowGap, padY, frameGap } = this.metrics;
    const rows = this.rowsOf(domain);
    const columns = Math.ceil((domain.to - domain.from) / rows);
    const column = this.columnWidth(domain);
    const strip = this.out.cell + 2 * padY;
    return {
      w: Math.min(this.out.width, 2 * framePad + columns * column + (columns - 1) * Math.max(3, frameGap - 4)),
      h: 2 * framePad + (domain.label ? frameLabel : 0) + rows * strip + (rows - 1) * rowGap,
      column: column + Math.max(3, frameGap - 4),
    };
  }

  private rack(
    domain: Domain,
    box: { x: number; y: number; w: number; h: number; column: number; depth: number },
  ): void {
    const { framePad, frameLabel, rowGap, padY } = this.metrics;
    if (domain.label)
      this.out.frames.push({ x: box.x, y: box.y, w: box.w, h: box.h, label: domain.label, depth: box.depth });
    const rows = this.rowsOf(domain);
    const pitch = this.out.cell + 2 * padY + rowGap;
    const top = box.y + framePad + (domain.label ? frameLabel : 0);
    for (let slot = domain.from; slot < domain.to; slot++) {
      const place = slot - domain.from;
      this.strip(slot, box.x + framePad + Math.floor(place / rows) * box.column, top + (place % rows) * pitch);
    }
  }

  private strip(slot: number, left: number, y: number): void {
    const { model, metrics, out } = this;
    const x = left + metrics.label;
    out.nodeX[slot] = x;
    out.nodeY[slot] = y;
    out.nodeW[slot] = this.stripWidth(slot);
    out.nodeH[slot] = out.cell + 2 * metrics.padY;
    const start = model.first[slot] ?? 0;
    let at = x + metrics.padX;
    for (let device = start; device < (model.first[slot + 1] ?? start); device++) {
      if (device > start) at += metrics.gap + joint(model, device, metrics);
      out.deviceX[device] = at;
      out.deviceY[device] = y + metrics.padY;
      at += out.wide;
    }
  }
}

export function layoutMap(model: MapModel, width: number, cell: number, wide = cell): MapLayout {
  return new LayoutBuilder(model, width, cell, wide).build();
}

/** The largest device size at which the whole cluster is seen without scrolling, or the smallest there is. */
export function fittingCell(model: MapModel, width: number, height: number): number {
  const fits = CELLS.filter((cell) => cell <= 24 && layoutMap(model, width, cell).height <= height);
  return fits.at(-1) ?? CELLS[1] ?? 3;
}

const STRETCHED_FROM = 11;
const WIDEST = 1.9;

/** How wide devices of this height may become before the map needs another row. */
export function fittingWidth(model: MapModel, width: number, cell: number): number {
  if (cell < STRETCHED_FROM) return cell;
  const { height } = layoutMap(model, width, cell);
  let wide = cell;
  while (wide < cell * WIDEST && layoutMap(model, width, cell, wide + 1).height === height) wide++;
  return wide;
}

/** The device under a point, or -1. */
export function deviceAt(model: MapModel, layout: MapLayout, x: number, y: number): number {
  const slop = layout.cell < 9 ? 1 : 2;
  for (let slot = 0; slot < layout.nodeX.length; slot++) {
    const top = layout.nodeY[slot] ?? 0;
    const left = layout.nodeX[slot] ?? 0;
    if (
      y < top - slop ||
      y >= top + (layout.nodeH[slot] ?? 0) + slop ||
      x < left ||
      x >= left + (layout.nodeW[slot] ?? 0)
    )
      continue;
    for (let device = model.first[slot] ?? 0; device < (model.first[slot + 1] ?? 0); device++) {
      const from = layout.deviceX[device] ?? 0;
      if (x >= from - slop && x < from + layout.wide + slop) return device;
    }
  }
  return -1;
}
