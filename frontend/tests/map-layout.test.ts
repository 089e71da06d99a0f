import { describe, expect, it } from "vitest";
import { CELLS, deviceAt, fittingCell, fittingWidth, layoutMap } from "../src/draw/map-layout";
import { buildModel } from "../src/draw/map-model";
import { walk } from "../src/draw/map-walk";
import { GROUPS, node, nodes } from "./map";

const model = buildModel(nodes(), ["rack"], GROUPS);

describe("the map's layout", () => {
  it.each(CELLS)("at %i px no two devices overlap and every device finds itself", (cell) => {
    const layout = layoutMap(model, 900, cell);
    for (let device = 0; device < model.node.length; device++) {
      const x = (layout.deviceX[device] ?? 0) + cell / 2;
      const y = (layout.deviceY[device] ?? 0) + cell / 2;
      expect(deviceAt(model, layout, x, y)).toBe(device);
    }
  });

  it("sets NVLink groups further apart than the devices within one", () => {
    const { deviceX } = layoutMap(model, 900, 14);
    const gap = (a: number, b: number) => (deviceX[b] ?? 0) - (deviceX[a] ?? 0);
    expect(gap(1, 2)).toBeGreaterThan(gap(0, 1));
  });

  it("wraps racks that do not fit side by side", () => {
    expect(layoutMap(model, 200, 14).height).toBeGreaterThan(layoutMap(model, 900, 14).height);
  });

  it("fits 80,000 GPUs by small devices, and few by large ones", () => {
    const many = buildModel(
      Array.from({ length: 2000 }, (_, i) => node(i, `r${Math.floor(i / 16)}`)),
      ["rack"],
    );
    expect(fittingCell(many, 1200, 560)).toBeLessThan(fittingCell(model, 1200, 560));
  });

  it("widens devices only while no further row is needed", () => {
    const wide = fittingWidth(model, 900, 14);
    expect(wide).toBeGreaterThan(14);
    expect(layoutMap(model, 900, 14, wide).height).toBe(layoutMap(model, 900, 14).height);
  });

  it("walks devices by arrows and reaches every one", () => {
    const layout = layoutMap(model, 900, 14);
    const seen = new Set<number>();
    for (
      let at = walk(model, layout, -1, "ArrowRight"), i = 0;
      i < model.node.length;
      i++, at = walk(model, layout, at, "ArrowRight")
    )
      seen.add(at);
    expect(seen.size).toBe(model.node.length);
    expect(walk(model, layout, 0, "ArrowDown")).toBe(4);
    expect(walk(model, layout, 4, "ArrowUp")).toBe(0);
    expect(walk(model, layout, 1, "End")).toBe(3);
  });
});
