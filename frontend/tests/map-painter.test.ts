import { describe, expect, it } from "vitest";
import { mix, pack, unpack } from "../src/draw/colour";
import { COLOURINGS, colourMap } from "../src/draw/map-colours";
import { layoutMap } from "../src/draw/map-layout";
import { buildModel } from "../src/draw/map-model";
import { paintMap } from "../src/draw/map-painter";
import type { Palette } from "../src/draw/palette";
import { NAMES, gpu, held, node, nodes } from "./map";

const WHITE = pack(255, 255, 255);
const grey = (n: number) => pack(n, n, n);
const palette: Palette = {
  surface: WHITE,
  text: grey(0),
  faint: grey(90),
  line: grey(220),
  free: grey(200),
  other: grey(150),
  bad: pack(220, 0, 0),
  running: pack(0, 160, 0),
  starting: pack(0, 0, 200),
  queued: pack(200, 160, 0),
  stopping: pack(220, 120, 0),
  focus: pack(80, 0, 220),
  categories: Array.from({ length: 12 }, (_, i) => pack(20 * i, 100, 200)),
  sequence: [200, 160, 120, 80, 40].map(grey),
};

function painted(list = nodes(), isLit: ((device: number) => boolean) | null = null, cell = 14) {
  const model = buildModel(list, ["rack"]);
  const layout = layoutMap(model, 400, cell);
  const coloured = colourMap(model, "queue", NAMES, palette);
  const view = {
    pixels: new Uint32Array(400 * layout.height),
    width: 400,
    height: layout.height,
    left: 0,
    top: 0,
    scale: 1,
  };
  paintMap(view, { model, layout, coloured, palette, isLit });
  const middle = (device: number) =>
    view.pixels[((layout.deviceY[device] ?? 0) + cell / 2) * 400 + (layout.deviceX[device] ?? 0) + cell / 2];
  const edge = (device: number) =>
    view.pixels[((layout.deviceY[device] ?? 0) + cell / 2) * 400 + (layout.deviceX[device] ?? 0)];
  return { middle, edge, coloured };
}

describe("the map's painter", () => {
  it("fills what is used and leaves what is free an outline", () => {
    const { middle, edge } = painted();
    expect(middle(0)).toBe(palette.categories[0]);
    expect(middle(2)).toBe(WHITE);
    expect(edge(2)).toBe(palette.free);
  });

  it("gives an unhealthy device a red edge", () => expect(painted().edge(3)).toBe(palette.bad));

  it("fills a shared device from below by its share", () => {
    const { middle } = painted([
      node(1, "r0", [gpu(0, held(5, { kind: "share", milli: 200 })), gpu(1, held(5, { kind: "share", milli: 900 }))]),
    ]);
    expect(middle(0)).toBe(mix(WHITE, palette.categories[0] ?? 0, 0.22));
    expect(middle(1)).toBe(palette.categories[0]);
  });

  it("dims what is not lit to 40 %", () => {
    const { middle } = painted(nodes(), (device) => device === 0);
    expect(middle(0)).toBe(palette.categories[0]);
    expect(middle(1)).toBe(mix(WHITE, palette.categories[0] ?? 0, 0.4));
  });

  it("mutes batch jobs", () => {
    const [r, g, b] = unpack(painted([node(1, "r0", [gpu(0, held(5, { job_kind: "batch" }))])]).middle(0) ?? 0);
    const [r0, g0, b0] = unpack(palette.categories[0] ?? 0);
    expect(Math.max(r, g, b) - Math.min(r, g, b)).toBeLessThan(Math.max(r0, g0, b0) - Math.min(r0, g0, b0));
  });

  it.each(COLOURINGS)("counts every device once in the legend by %s", (by) => {
    const model = buildModel(nodes(), ["rack"]);
    const { legend } = colourMap(model, by, NAMES, palette);
    expect(legend.reduce((sum, entry) => sum + entry.count, 0)).toBe(model.node.length);
  });

  it("calls a job of others by no name", () => {
    const model = buildModel([node(1, "r0", [gpu(0, held(77))])], ["rack"]);
    expect(colourMap(model, "job", NAMES, palette).legend[0]?.label).toBe("another tenant");
  });

  it("paints what is in view of 80,000 devices", () => {
    const list = Array.from({ length: 10_000 }, (_, i) =>
      node(
        i,
        `r${Math.floor(i / 16)}`,
        Array.from({ length: 8 }, (_, j) => gpu(j, j % 2 ? held(5) : {})),
      ),
    );
    const model = buildModel(list, ["rack"]);
    const layout = layoutMap(model, 1400, 3);
    const coloured = colourMap(model, "queue", NAMES, palette);
    const view = { pixels: new Uint32Array(1400 * 720), width: 1400, height: 720, left: 0, top: 0, scale: 1 };
    const scene = { model, layout, coloured, palette, isLit: null };
    paintMap(view, scene);
    const colours = new Set(view.pixels);
    expect(colours.size).toBeGreaterThanOrEqual(3); // ground, free, used
    expect(view.pixels.filter((pixel) => pixel !== view.pixels[0]).length).toBeGreaterThan(100_000);
  });
});
