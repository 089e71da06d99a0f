/** What is drawn as vectors over the pixels: frames and the labels that fit. */
import { css } from "./colour";
import type { MapLayout } from "./map-layout";
import { Glyph, type MapModel } from "./map-model";
import type { Palette } from "./palette";

export interface LabelView {
  context: CanvasRenderingContext2D;
  width: number;
  height: number;
  left: number;
  top: number;
  scale: number;
  font: string;
}

const LABELLED_FROM = 5;

function fitted(context: CanvasRenderingContext2D, text: string, room: number): string {
  if (context.measureText(text).width <= room) return text;
  let end = text.length;
  while (end > 1 && context.measureText(`${text.slice(0, end)}…`).width > room) end--;
  return end > 1 ? `${text.slice(0, end)}…` : "";
}

function drawFrames(view: LabelView, layout: MapLayout, palette: Palette, innermost: number): void {
  const { context } = view;
  for (const frame of layout.frames) {
    if (frame.y > view.top + view.height || frame.y + frame.h < view.top) continue;
    const x = frame.x - view.left;
    const y = frame.y - view.top;
    if (frame.depth === innermost) {
      context.strokeStyle = css(palette.line);
      context.lineWidth = 1;
      context.beginPath();
      context.roundRect(x + 0.5, y + 0.5, frame.w - 1, frame.h - 1, 5);
      context.stroke();
    }
    if (frame.depth === innermost && layout.cell < LABELLED_FROM) continue;
    context.fillStyle = css(frame.depth === innermost ? palette.faint : palette.text);
    const inset = frame.depth === innermost ? 8 : 0;
    context.fillText(
      fitted(context, frame.label, frame.w - 2 * inset),
      x + inset,
      y + (frame.depth === innermost ? 14 : 12),
    );
  }
}

function drawNodeNames(view: LabelView, model: MapModel, layout: MapLayout, palette: Palette): void {
  if (!layout.labelWidth) return;
  const { context } = view;
  context.fillStyle = css(palette.faint);
  for (let slot = 0; slot < model.nodes.length; slot++) {
    const y = (layout.nodeY[slot] ?? 0) - view.top;
    if (y > view.height || y < -layout.cell * 2) continue;
    const x = (layout.nodeX[slot] ?? 0) - view.left - layout.labelWidth;
    context.fillText(
      fitted(context, model.nodes[slot]?.name ?? "", layout.labelWidth - 8),
      x,
      y + (layout.nodeH[slot] ?? 0) / 2 + 4,
    );
  }
}

export function drawLabels(view: LabelView, model: MapModel, layout: MapLayout, palette: Palette): void {
  const { context } = view;
  context.save();
  context.scale(view.scale, view.scale);
  context.font = view.font;
  drawFrames(view, layout, palette, Math.max(0, model.levels.length - 1));
  drawNodeNames(view, model, layout, palette);
  context.restore();
}

const NAMED_FROM = 18;
/** Words lie on fills of middle lightness in both themes, so one dark ink reads on all of them. */
const INK = "rgb(0 0 0 / 0.78)";

/** The name of a job over the devices it holds side by side, where it fits. */
export function drawJobNames(
  view: LabelView,
  model: MapModel,
  layout: MapLayout,
  nameOf: (device: number) => string | null,
): void {
  if (layout.cell < NAMED_FROM) return;
  const { context } = view;
  context.save();
  context.scale(view.scale, view.scale);
  context.font = view.font;
  context.fillStyle = INK;
  for (let device = 0; device < model.node.length;) {
    let end = device + 1;
    while (
      end < model.node.length &&
      model.node[end] === model.node[device] &&
      model.job[end] === model.job[device] &&
      model.group[end] === model.group[device] &&
      model.glyph[end] === Glyph.USED
    )
      end++;
    const y = (layout.deviceY[device] ?? 0) - view.top;
    const name = model.glyph[device] === Glyph.USED && y > -layout.cell && y < view.height ? nameOf(device) : null;
    const x = (layout.deviceX[device] ?? 0) - view.left;
    const room = (layout.deviceX[end - 1] ?? 0) + layout.wide - (layout.deviceX[device] ?? 0) - 10;
    if (name && room > 40) context.fillText(fitted(context, name, room), x + 6, y + layout.cell / 2 + 4);
    device = end;
  }
  context.restore();
}

/** The ring around the device that the keyboard or pointer is at. */
export function drawFocus(view: LabelView, layout: MapLayout, device: number, palette: Palette): void {
  const { context } = view;
  const grow = layout.cell < 9 ? 2 : 2.5;
  context.save();
  context.scale(view.scale, view.scale);
  context.strokeStyle = css(palette.text);
  context.lineWidth = 1.5;
  context.beginPath();
  const x = (layout.deviceX[device] ?? 0) - view.left - grow;
  const y = (layout.deviceY[device] ?? 0) - view.top - grow;
  context.roundRect(x, y, layout.wide + 2 * grow, layout.cell + 2 * grow, 3);
  context.stroke();
  context.restore();
}
