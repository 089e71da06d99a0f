import { describe, expect, it } from "vitest";
import { aroundJob } from "../src/islands/map/around-job";
import { Glyph, buildModel, deviceFacts, updateModel } from "../src/draw/map-model";
import { tableRows } from "../src/islands/map/table";
import { NAMES, gpu, held, node, nodes } from "./map";

describe("the map's model", () => {
  it("orders nodes by domain, then by name", () => {
    expect(buildModel(nodes(), ["rack"]).nodes.map((one) => one.pk)).toEqual([1, 2, 3, 4]);
  });

  it.each([
    ["free", {}, Glyph.FREE],
    ["held", held(5), Glyph.USED],
    ["shared", held(5, { kind: "share", milli: 250 }), Glyph.SHARED],
    ["promised", held(5, { state: "nominated" }), Glyph.NOMINATED],
    ["of other pods", { others: true }, Glyph.OTHER],
    ["unhealthy, whoever has it", { ...held(5), health: "unhealthy" as const }, Glyph.BAD],
    ["unknown", { health: "unknown" as const }, Glyph.UNKNOWN],
  ])("a device that is %s", (_, more, glyph) => {
    expect(buildModel([node(1, "r0", [gpu(0, more)])], ["rack"]).glyph[0]).toBe(glyph);
  });

  it("takes a changed node in place", () => {
    const model = buildModel(nodes(), ["rack"]);
    expect(updateModel(model, [node(2, "r0", [gpu(0, held(8)), gpu(1), gpu(2), gpu(3)])])).toBe(true);
    expect(model.job[4]).toBe(8);
  });

  it("asks to be built anew when a node moved, or has other devices", () => {
    const model = buildModel(nodes(), ["rack"]);
    expect(updateModel(model, [node(2, "r9")])).toBe(false);
    expect(updateModel(model, [node(2, "r0", [gpu(0)])])).toBe(false);
    expect(updateModel(model, [node(99, "r0")])).toBe(false);
  });

  it("knows which device is which", () => {
    const facts = deviceFacts(buildModel(nodes(), ["rack"]), 3);
    expect(facts?.node.name).toBe("n1");
    expect(facts?.gpu.index).toBe(3);
  });

  it("stands behind the picture as a table", () => {
    expect(tableRows(buildModel(nodes(), ["rack"]), NAMES)[0]).toEqual({
      name: "n1",
      place: "r0",
      total: 4,
      used: 2,
      free: 1,
      bad: 1,
      owners: "llama",
    });
  });

  it("shows a job's own racks where the cluster is large", () => {
    const many = [...nodes(), ...Array.from({ length: 60 }, (_, i) => node(100 + i, `r${5 + i}`))];
    expect(
      aroundJob(many, ["rack"], 5)
        .map((one) => one.pk)
        .sort(),
    ).toEqual([1, 2]);
    expect(aroundJob(nodes(), ["rack"], 5)).toHaveLength(4);
  });
});
