/** The job file between its two faces: YAML text, whose comments and order stay, and the fields of a form. */
import { type Document, LineCounter, type YAMLError, isMap, parseDocument } from "yaml";

/** How a field's text stands for a value of the file. */
export type FieldKind = "text" | "number" | "words" | "pairs" | "flag";

export interface Field {
  /** Dotted path in the file: `topology.preferred`. */
  path: string;
  kind: FieldKind;
}

export interface Problem {
  message: string;
  /** From 1; 0 when it belongs to no line. */
  line: number;
}

export interface Parsed {
  document: Document;
  lines: LineCounter;
  problems: Problem[];
}

export function parseJobFile(text: string): Parsed {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, strict: true });
  const problems = document.errors.map((error: YAMLError) => ({
    message: error.message.split(" at line")[0] ?? error.message,
    line: error.linePos?.[0].line ?? 0,
  }));
  if (!problems.length && document.contents !== null && !isMap(document.contents))
    problems.push({ message: "A job file is a list of keys with values.", line: 1 });
  return { document, lines, problems };
}

/** Splits a command as a shell would: spaces part words, quotes keep them together. */
export function splitWords(text: string): string[] {
  const words: string[] = [];
  let word = "";
  let quote = "";
  let started = false;
  for (const char of text) {
    if (quote) {
      if (char === quote) quote = "";
      else word += char;
    } else if (char === '"' || char === "'") {
      quote = char;
      started = true;
    } else if (/\s/.test(char)) {
      if (started || word) words.push(word);
      word = "";
      started = false;
    } else word += char;
  }
  if (started || word) words.push(word);
  return words;
}

export function joinWords(words: unknown[]): string {
  return words.map((word) => (/^[^\s"']+$/.test(String(word)) ? String(word) : `'${String(word)}'`)).join(" ");
}

function pairsOf(text: string): Record<string, string> {
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf("=");
      return at < 0 ? [line, ""] : [line.slice(0, at).trim(), line.slice(at + 1)];
    }),
  );
}

/** A field's text as the value it stands for; undefined when it is empty and the key goes. */
export function toValue(kind: FieldKind, text: string): unknown {
  if (!text.trim()) return undefined;
  if (kind === "number") return /^-?\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : text.trim();
  if (kind === "words") return splitWords(text);
  if (kind === "pairs") return pairsOf(text);
  if (kind === "flag") return text === "true" ? true : undefined;
  return text.trim();
}

export function toText(kind: FieldKind, value: unknown): string {
  if (value === undefined || value === null) return "";
  if (kind === "words") return Array.isArray(value) ? joinWords(value) : String(value);
  if (kind === "pairs")
    return typeof value === "object"
      ? Object.entries(value)
          .map(([key, one]) => `${key}=${String(one)}`)
          .join("\n")
      : String(value);
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

export function readField(parsed: Parsed, field: Field): string {
  const value: unknown = parsed.document.getIn(field.path.split("."));
  const plain: unknown =
    value && typeof value === "object" && "toJSON" in value ? (value as { toJSON(): unknown }).toJSON() : value;
  return toText(field.kind, plain);
}

/** The text with one field changed; everything else, comments too, stays as it was. */
export function writeField(text: string, field: Field, value: string): string {
  const { document, problems } = parseJobFile(text);
  if (problems.length) return text;
  const path = field.path.split(".");
  const next = toValue(field.kind, value);
  if (document.contents === null) document.contents = document.createNode({}) as never;
  if (next === undefined) removeIn(document, path);
  else document.setIn(path, flow(document, next));
  return document.toString({ lineWidth: 0, flowCollectionPadding: false });
}

/** Lists are written in one line, as people write commands. */
function flow(document: Document, value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  const node = document.createNode(value);
  node.flow = true;
  return node;
}

function removeIn(document: Document, path: string[]): void {
  document.deleteIn(path);
  const parent = path.slice(0, -1);
  const around: unknown = parent.length ? document.getIn(parent) : null;
  if (isMap(around) && around.items.length === 0) document.deleteIn(parent);
}

/** The line of a key, for errors that the server names by path; 0 when the file does not hold it. */
export function lineOf(parsed: Parsed, path: string): number {
  const keys = path.split(".");
  for (let length = keys.length; length > 0; length--) {
    const parent = length > 1 ? parsed.document.getIn(keys.slice(0, length - 1)) : parsed.document.contents;
    const pair = isMap(parent) ? parent.items.find((item) => String(item.key) === keys[length - 1]) : undefined;
    const at = (pair?.key as { range?: [number, number, number] } | undefined)?.range?.[0];
    if (at !== undefined) return parsed.lines.linePos(at).line;
  }
  return 0;
}
