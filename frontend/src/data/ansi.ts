/** ANSI colour sequences of a log line as runs of text with classes of ours; every other escape is dropped. */

export interface Run {
  text: string;
  classes: string;
}

interface Style {
  colour: number | null;
  bold: boolean;
  dim: boolean;
  italic: boolean;
  underline: boolean;
}

// CSI … letter, OSC … terminator, or a single-character escape.
const ESCAPE = /\u001b(?:\[([0-9;:?]*)([A-Za-z])|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;

const PLAIN: Style = { colour: null, bold: false, dim: false, italic: false, underline: false };

function classesOf(style: Style): string {
  const names = [
    style.colour === null ? "" : `a-${style.colour}`,
    style.bold ? "a-b" : "",
    style.dim ? "a-d" : "",
    style.italic ? "a-i" : "",
    style.underline ? "a-u" : "",
  ];
  return names.filter(Boolean).join(" ");
}

/** The nearest of the eight colours that both themes define. */
function nearest(r: number, g: number, b: number): number {
  const most = Math.max(r, g, b);
  const least = Math.min(r, g, b);
  if (most - least < 40) return most < 100 ? 0 : 7;
  const middle = (most + least) / 2;
  return (r > middle ? 1 : 0) | (g > middle ? 2 : 0) | (b > middle ? 4 : 0);
}

function indexed(n: number): number {
  if (n < 16) return n % 8;
  if (n >= 232) return n < 244 ? 0 : 7;
  const cube = n - 16;
  return nearest(Math.floor(cube / 36) * 51, (Math.floor(cube / 6) % 6) * 51, (cube % 6) * 51);
}

/** Reads 38;5;n or 38;2;r;g;b from `codes` at `at`; returns the colour and how many codes it took. */
function extended(codes: number[], at: number): [number | null, number] {
  if (codes[at + 1] === 5) return [indexed(codes[at + 2] ?? 7), 2];
  if (codes[at + 1] === 2) return [nearest(codes[at + 2] ?? 0, codes[at + 3] ?? 0, codes[at + 4] ?? 0), 4];
  return [null, 0];
}

function applyCodes(style: Style, text: string): Style {
  const codes = text.split(/[;:]/).map((code) => Number(code || 0));
  let next = { ...style };
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i] ?? 0;
    if (code === 0) next = { ...PLAIN };
    else if (code === 1) next.bold = true;
    else if (code === 2) next.dim = true;
    else if (code === 3) next.italic = true;
    else if (code === 4) next.underline = true;
    else if (code === 22) next = { ...next, bold: false, dim: false };
    else if (code === 23) next.italic = false;
    else if (code === 24) next.underline = false;
    else if (code >= 30 && code <= 37) next.colour = code - 30;
    else if (code >= 90 && code <= 97) next.colour = code - 90;
    else if (code === 39) next.colour = null;
    else if (code === 38 || code === 48) {
      const [colour, taken] = extended(codes, i);
      if (code === 38) next.colour = colour;
      i += taken;
    }
  }
  return next;
}

export function parseAnsi(line: string): Run[] {
  if (!line.includes("\u001b")) return line ? [{ text: line, classes: "" }] : [];
  const runs: Run[] = [];
  let style = { ...PLAIN };
  let from = 0;
  const push = (text: string) => text && runs.push({ text, classes: classesOf(style) });
  for (const match of line.matchAll(ESCAPE)) {
    push(line.slice(from, match.index));
    from = match.index + match[0].length;
    if (match[2] === "m") style = applyCodes(style, match[1] ?? "");
  }
  push(line.slice(from));
  return runs;
}

export function stripAnsi(line: string): string {
  return line.includes("\u001b") ? line.replace(ESCAPE, "") : line;
}
