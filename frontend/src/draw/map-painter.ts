/** Paints devices into the words of an ImageData: a rectangle per GPU by canvas calls takes a hundred times as long. */
import { type Packed, mix } from "./colour";
import type { Coloured } from "./map-colours";
import type { MapLayout } from "./map-layout";
import { Glyph, type MapModel } from "./map-model";
import type { Palette } from "./palette";

/** A buffer of device pixels that shows the layout from (left, top), in CSS pixels, at `scale` pixels each. */
export interface View {
  pixels: Uint32Array;
  width: number;
  height: number;
  left: number;
  top: number;
  scale: number;
}

export interface Scene {
  model: MapModel;
  layout: MapLayout;
  coloured: Coloured;
  palette: Palette;
  /** Devices that stay bright while all else dims; null: none dims. */
  isLit: ((device: number) => boolean) | null;
}

interface Box {
  x: number;
  y: number;
  w: number;
  h: number;
}

const DIM = 0.4;
/** How strongly the seam between two devices of one job is tinted. */
const JOINT = 0.6;
const SHARE_FLOOR = 0.12;

export function fillRect(view: View, box: Box, colour: Packed): void {
  const x0 = Math.max(0, box.x);
  const x1 = Math.min(view.width, box.x + box.w);
  const y1 = Math.min(view.height, box.y + box.h);
  for (let y = Math.max(0, box.y); y < y1; y++) view.pixels.fill(colour, y * view.width + x0, y * view.width + x1);
}

export function strokeRect(view: View, box: Box, colour: Packed, line: number): void {
  const { x, y, w, h } = box;
  fillRect(view, { x, y, w, h: line }, colour);
  fillRect(view, { x, y: y + h - line, w, h: line }, colour);
  fillRect(view, { x, y: y + line, w: line, h: h - 2 * line }, colour);
  fillRect(view, { x: x + w - line, y: y + line, w: line, h: h - 2 * line }, colour);
}

/** Calls `inside` for each pixel of the square that the view shows, and paints where it answers a colour. */
function perPixel(view: View, box: Box, inside: (dx: number, dy: number) => Packed | null): void {
  const x1 = Math.min(view.width, box.x + box.w);
  const y1 = Math.min(view.height, box.y + box.h);
  for (let y = Math.max(0, box.y); y < y1; y++)
    for (let x = Math.max(0, box.x); x < x1; x++) {
      const colour = inside(x - box.x, y - box.y);
      if (colour !== null) view.pixels[y * view.width + x] = colour;
    }
}

function isEdge(dx: number, dy: number, box: Box, line: number): boolean {
  return dx < line || dy < line || dx >= box.w - line || dy >= box.h - line;
}

/** Cuts the corners of a large filled square, so that it reads as a chip and not as a block. */
function roundCorners(
  view: View,
  box: Box,
  ground: Packed,
  ends: { cut: number; left: boolean; right: boolean },
): void {
  const { cut } = ends;
  const corner = (x: number, y: number) =>
    perPixel(view, { x, y, w: cut, h: cut }, (dx, dy) => {
      const ox = x === box.x ? dx : cut - 1 - dx;
      const oy = y === box.y ? dy : cut - 1 - dy;
      return ox + oy < cut ? ground : null;
    });
  const sides = [...(ends.left ? [box.x] : []), ...(ends.right ? [box.x + box.w - cut] : [])];
  for (const x of sides) for (const y of [box.y, box.y + box.h - cut]) corner(x, y);
}

type Painter = (
  view: View,
  box: Box,
  colour: Packed,
  extra: { ground: Packed; bad: Packed; share: number; line: number },
) => void;

const PAINTERS: Record<Glyph, Painter> = {
  [Glyph.FREE]: (view, box, colour, { line }) => {
    strokeRect(view, box, colour, line);
  },
  [Glyph.USED]: (view, box, colour) => fillRect(view, box, colour),
  [Glyph.OTHER]: (view, box, colour) => fillRect(view, box, colour),
  [Glyph.SHARED]: (view, box, colour, { ground, share, line }) => {
    const height = Math.round(box.h * Math.max(SHARE_FLOOR, share));
    fillRect(view, box, mix(ground, colour, 0.22));
    fillRect(view, { x: box.x, y: box.y + box.h - height, w: box.w, h: height }, colour);
    strokeRect(view, box, colour, line);
  },
  [Glyph.NOMINATED]: (view, box, colour, { line }) => {
    perPixel(view, box, (dx, dy) =>
      isEdge(dx, dy, box, line) && Math.floor((dx + dy) / (2 * line)) % 2 === 0 ? colour : null,
    );
  },
  [Glyph.BAD]: (view, box, _colour, { ground, bad, line }) => {
    const faint = mix(ground, bad, 0.55);
    perPixel(view, box, (dx, dy) => {
      if (isEdge(dx, dy, box, line)) return bad;
      return (dx + dy) % (3 * line) < line ? faint : null;
    });
  },
  [Glyph.UNKNOWN]: (view, box, colour, { line }) => {
    perPixel(view, box, (dx, dy) => {
      const dotted = (Math.floor(dx / line) + Math.floor(dy / line)) % 3 === 0;
      return isEdge(dx, dy, box, line) && dotted ? colour : null;
    });
  },
};

/** Part of full brightness at which a device is shown. */
function brightness(scene: Scene, device: number, isCordoned: boolean): number {
  const lit = scene.isLit === null || scene.isLit(device);
  return (lit ? 1 : DIM) * (isCordoned ? 0.6 : 1);
}

/** Health fills what the others leave as an outline. */
function shownGlyph(scene: Scene, device: number): Glyph {
  const glyph = scene.model.glyph[device] as Glyph;
  const legend = scene.coloured.legend[scene.coloured.entry[device] ?? 0]?.glyph;
  return legend === Glyph.USED && glyph === Glyph.FREE ? Glyph.USED : glyph;
}

function isContinued(scene: Scene, device: number): boolean {
  const { model, coloured } = scene;
  return (
    model.glyph[device] === Glyph.USED &&
    model.glyph[device + 1] === Glyph.USED &&
    model.node[device] === model.node[device + 1] &&
    model.job[device] === model.job[device + 1] &&
    model.group[device] === model.group[device + 1] &&
    coloured.fill[device] === coloured.fill[device + 1]
  );
}

/** How much of its colour a device has that is too small for an outline; red stays red. */
const TINY_PARTS: Record<Glyph, number> = {
  [Glyph.FREE]: 0.5,
  [Glyph.USED]: 1,
  [Glyph.SHARED]: 0.75,
  [Glyph.NOMINATED]: 0.55,
  [Glyph.OTHER]: 1,
  [Glyph.BAD]: 1,
  [Glyph.UNKNOWN]: 0.35,
};

/** A strip whose devices are too small for anything but a colour: no allocation, for there are tens of thousands. */
function paintTinyStrip(view: View, scene: Scene, slot: number): void {
  const { model, layout, palette, coloured } = scene;
  const { pixels, scale, width } = view;
  const isCordoned = model.nodes[slot]?.cordoned ?? false;
  const size = Math.round(layout.cell * scale);
  for (let device = model.first[slot] ?? 0; device < (model.first[slot + 1] ?? 0); device++) {
    const left = Math.round(((layout.deviceX[device] ?? 0) - view.left) * scale);
    const top = Math.round(((layout.deviceY[device] ?? 0) - view.top) * scale);
    const part = (TINY_PARTS[shownGlyph(scene, device)] ?? 1) * brightness(scene, device, isCordoned);
    const full = coloured.fill[device] ?? 0;
    const colour = part === 1 ? full : mix(palette.surface, full, part);
    const right = Math.min(width, left + size);
    const bottom = Math.min(view.height, top + size);
    for (let y = Math.max(0, top); y < bottom; y++)
      for (let at = y * width + Math.max(0, left); at < y * width + right; at++) pixels[at] = colour;
  }
}

function paintStrip(view: View, scene: Scene, slot: number): void {
  const { model, layout, palette, coloured } = scene;
  const { scale } = view;
  const isCordoned = model.nodes[slot]?.cordoned ?? false;
  const line = Math.max(1, Math.round(scale));
  const w = Math.round(layout.wide * scale);
  const h = Math.round(layout.cell * scale);
  for (let device = model.first[slot] ?? 0; device < (model.first[slot + 1] ?? 0); device++) {
    const x = Math.round(((layout.deviceX[device] ?? 0) - view.left) * scale);
    const box = { x, y: Math.round(((layout.deviceY[device] ?? 0) - view.top) * scale), w, h };
    const part = brightness(scene, device, isCordoned);
    const tone = (colour: Packed) => (part === 1 ? colour : mix(palette.surface, colour, part));
    const glyph = shownGlyph(scene, device);
    const colour = tone(coloured.fill[device] ?? 0);
    PAINTERS[glyph](view, box, colour, {
      ground: palette.surface,
      bad: tone(palette.bad),
      share: (model.milli[device] ?? 1000) / 1000,
      line,
    });
    if (h < 9 * line) continue;
    const goesOn = isContinued(scene, device);
    const ends = { cut: 2 * line, left: !isContinued(scene, device - 1), right: !goesOn };
    if (glyph !== Glyph.FREE && glyph !== Glyph.NOMINATED) roundCorners(view, box, palette.surface, ends);
    if (goesOn) {
      const next = Math.round(((layout.deviceX[device + 1] ?? 0) - view.left) * scale);
      fillRect(view, { x: x + w, y: box.y, w: next - x - w, h }, mix(palette.surface, colour, JOINT));
    }
  }
}

function paintNodeFrame(view: View, scene: Scene, slot: number): void {
  const { layout, palette, model } = scene;
  const { scale } = view;
  const node = model.nodes[slot];
  const box = {
    x: Math.round(((layout.nodeX[slot] ?? 0) - view.left) * scale),
    y: Math.round(((layout.nodeY[slot] ?? 0) - view.top) * scale),
    w: Math.round((layout.nodeW[slot] ?? 0) * scale),
    h: Math.round((layout.nodeH[slot] ?? 0) * scale),
  };
  const line = Math.max(1, Math.round(scale));
  const colour = node?.ready === false ? mix(palette.surface, palette.bad, 0.5) : palette.line;
  strokeRect(view, box, mix(palette.surface, colour, node?.cordoned ? 0.3 : 0.6), line);
}

const FRAMED_FROM = 9;
const OUTLINED_FROM = 5;

/** Paints all nodes that the view shows. */
export function paintMap(view: View, scene: Scene): void {
  const { layout, model } = scene;
  view.pixels.fill(scene.palette.surface);
  const bottom = view.top + view.height / view.scale;
  const right = view.left + view.width / view.scale;
  for (let slot = 0; slot < model.nodes.length; slot++) {
    const y = layout.nodeY[slot] ?? 0;
    const x = layout.nodeX[slot] ?? 0;
    if (y > bottom || y + (layout.nodeH[slot] ?? 0) < view.top || x > right) continue;
    if (layout.cell >= FRAMED_FROM) paintNodeFrame(view, scene, slot);
    if (layout.cell < OUTLINED_FROM) paintTinyStrip(view, scene, slot);
    else paintStrip(view, scene, slot);
  }
}

/** One glyph alone, for the legend. */
export function paintGlyph(view: View, glyph: Glyph, colour: Packed, palette: Palette): void {
  view.pixels.fill(palette.surface);
  const line = Math.max(1, Math.round(view.scale));
  const box = { x: 0, y: 0, w: view.width, h: view.height };
  PAINTERS[glyph](view, box, colour, { ground: palette.surface, bad: palette.bad, share: 0.5, line });
}
