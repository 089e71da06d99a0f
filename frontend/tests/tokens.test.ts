import { readFileSync, readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";

const css = readFileSync("styles/tokens.css", "utf8");

/** Relative luminance of an oklch() colour. */
function luminance(l: number, c: number, h: number): number {
  const a = c * Math.cos((h * Math.PI) / 180);
  const b = c * Math.sin((h * Math.PI) / 180);
  const [x, y, z] = [
    l + 0.3963377774 * a + 0.2158037573 * b,
    l - 0.1055613458 * a - 0.0638541728 * b,
    l - 0.0894841775 * a - 1.291485548 * b,
  ].map((v) => v ** 3) as [number, number, number];
  const rgb = [
    4.0767416621 * x - 3.3077115913 * y + 0.2309699292 * z,
    -1.2684380046 * x + 2.6097574011 * y - 0.3413193965 * z,
    -0.0041960863 * x - 0.7034186147 * y + 1.707614701 * z,
  ].map((v) => Math.min(1, Math.max(0, v))) as [number, number, number];
  return 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2];
}

function token(name: string): [number, number] {
  const line = css.match(new RegExp(`--color-${name}: (.*);`))?.[1] ?? "";
  const found = [...line.matchAll(/oklch\(([\d.]+) ([\d.]+) ([\d.]+)/g)].map((m) =>
    luminance(Number(m[1]), Number(m[2]), Number(m[3])),
  );
  return [found[0] ?? 0, found[1] ?? found[0] ?? 0];
}

function contrast(a: number, b: number): number {
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

describe("tokens", () => {
  it.each([
    ["text", "surface", 7],
    ["text", "bg", 7],
    ["text-2", "surface", 4.5],
    ["text-2", "bg", 4.5],
    ["text-2", "rail", 4.5],
    ["text-3", "surface", 4.5],
    ["text-3", "sunken", 4.5],
    ["on-accent", "accent", 4.5],
    ["on-accent", "danger", 4.5],
    ["accent-text", "surface", 4.5],
    ["danger-text", "surface", 4.5],
    ["warn-text", "bg", 4.5],
    ["good-text", "surface", 4.5],
    ["focus", "surface", 3],
    ["ansi-1", "sunken", 4.5],
    ["ansi-2", "sunken", 4.5],
    ["ansi-3", "sunken", 4.5],
    ["ansi-4", "sunken", 4.5],
    ["ansi-5", "sunken", 4.5],
    ["ansi-6", "sunken", 4.5],
  ])("%s on %s reaches %d:1 in light and dark", (front, back, least) => {
    for (const theme of [0, 1] as const)
      expect(contrast(token(front)[theme], token(back)[theme])).toBeGreaterThanOrEqual(least);
  });

  it("are the only place that names a colour", () => {
    const files = [
      "styles/base.css",
      "styles/frame.css",
      ...readdirSync("styles/components").map((name) => `styles/components/${name}`),
    ];
    for (const file of files)
      expect(readFileSync(file, "utf8").match(/#[0-9a-f]{3,8}\b|\brgb\(|\boklch\((?!from)/gi) ?? [], file).toEqual([]);
  });
});
