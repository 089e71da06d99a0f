/** Colours as packed 32-bit words in the byte order of ImageData (little-endian: A B G R). */

export type Packed = number;

export function pack(r: number, g: number, b: number): Packed {
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

export function unpack(colour: Packed): [number, number, number] {
  return [colour & 255, (colour >>> 8) & 255, (colour >>> 16) & 255];
}

/** `part` of `over` upon `under`, 0 to 1. */
export function mix(under: Packed, over: Packed, part: number): Packed {
  // Channel by channel, without arrays: a frame of 80,000 devices mixes as many colours.
  const r = under & 255;
  const g = (under >>> 8) & 255;
  const b = (under >>> 16) & 255;
  return pack(
    Math.round(r + ((over & 255) - r) * part),
    Math.round(g + (((over >>> 8) & 255) - g) * part),
    Math.round(b + (((over >>> 16) & 255) - b) * part),
  );
}

/** The same hue with half its chroma: batch jobs beside training. */
export function mute(colour: Packed): Packed {
  const [r, g, b] = unpack(colour);
  const grey = Math.round(0.3 * r + 0.59 * g + 0.11 * b);
  return mix(colour, pack(grey, grey, grey), 0.5);
}

export function css(colour: Packed): string {
  const [r, g, b] = unpack(colour);
  return `rgb(${r} ${g} ${b})`;
}

/** A stable small number for a name or id (FNV-1a). */
export function hash(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return h >>> 0;
}
