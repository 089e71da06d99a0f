/** The tokens' colours as the painter needs them, resolved for the current theme. */
import { type Packed, mix, pack } from "./colour";

export interface Palette {
  surface: Packed;
  text: Packed;
  faint: Packed;
  line: Packed;
  free: Packed;
  other: Packed;
  bad: Packed;
  running: Packed;
  starting: Packed;
  queued: Packed;
  stopping: Packed;
  focus: Packed;
  categories: Packed[];
  sequence: Packed[];
}

export const CATEGORIES = 12;

/** Reads a token through the browser, which alone knows how light-dark() and oklch() come out. */
function reader(element: HTMLElement): (token: string) => Packed {
  const probe = document.createElement("span");
  element.append(probe);
  const context = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", {
    willReadFrequently: true,
  });
  queueMicrotask(() => probe.remove());
  return (token) => {
    probe.style.color = `var(--color-${token})`;
    if (!context) return pack(128, 128, 128);
    context.fillStyle = getComputedStyle(probe).color;
    context.fillRect(0, 0, 1, 1);
    const [r = 0, g = 0, b = 0] = context.getImageData(0, 0, 1, 1).data;
    return pack(r, g, b);
  };
}

export function readPalette(element: HTMLElement): Palette {
  const read = reader(element);
  return {
    surface: read("surface"),
    text: read("text"),
    faint: read("text-3"),
    line: read("line"),
    free: read("map-free"),
    other: read("map-other"),
    bad: read("map-bad"),
    running: read("running"),
    starting: read("starting"),
    queued: read("queued"),
    stopping: read("stopping"),
    focus: read("focus"),
    categories: Array.from({ length: CATEGORIES }, (_, i) => read(`cat-${i}`)),
    sequence: Array.from({ length: 5 }, (_, i) => read(`seq-${i}`)),
  };
}

/** The colour of category `index`: twelve hues, and beyond them the same hues a little towards the text colour. */
export function categoryColour(palette: Palette, index: number): Packed {
  const base = palette.categories[index % CATEGORIES] ?? palette.other;
  const round = Math.floor(index / CATEGORIES) % 3;
  return round === 0 ? base : mix(base, round === 1 ? palette.text : palette.surface, 0.26);
}
