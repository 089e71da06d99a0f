/** Where an arrow key leads from a device. */
import type { MapLayout } from "./map-layout";
import type { MapModel } from "./map-model";

export type Arrow = "ArrowLeft" | "ArrowRight" | "ArrowUp" | "ArrowDown" | "Home" | "End";

/** The device of the nearest strip above (-1) or below (+1), in about the same column. */
function vertical(model: MapModel, layout: MapLayout, from: number, sign: number): number {
  const x = layout.deviceX[from] ?? 0;
  const y = layout.deviceY[from] ?? 0;
  let best = from;
  let least = Number.POSITIVE_INFINITY;
  for (let device = 0; device < model.node.length; device++) {
    const dy = ((layout.deviceY[device] ?? 0) - y) * sign;
    if (dy <= 0) continue;
    const cost = dy + 2 * Math.abs((layout.deviceX[device] ?? 0) - x);
    if (cost >= least) continue;
    least = cost;
    best = device;
  }
  return best;
}

export function walk(model: MapModel, layout: MapLayout, from: number, key: Arrow): number {
  const last = model.node.length - 1;
  if (from < 0) return Math.min(0, last);
  const slot = model.node[from] ?? 0;
  switch (key) {
    case "ArrowLeft":
      return Math.max(0, from - 1);
    case "ArrowRight":
      return Math.min(last, from + 1);
    case "Home":
      return model.first[slot] ?? from;
    case "End":
      return (model.first[slot + 1] ?? from + 1) - 1;
    case "ArrowUp":
      return vertical(model, layout, from, -1);
    case "ArrowDown":
      return vertical(model, layout, from, 1);
  }
}
