/** One line of the log as an element. */
import { parseAnsi } from "../../data/ansi";
import type { LogLine } from "../../data/log-buffer";

export interface RowContext {
  words: string;
  /** Index of the line that the search stands at. */
  current: number;
  showsWorker: boolean;
  workers: string[];
  /** Lines whose whole length is shown. */
  whole: ReadonlySet<number>;
}

/** A line of 256 KB would stall the page; so much of it is drawn until the rest is asked for. */
export const SHOWN_CHARACTERS = 4000;
const FAILURE = /\b(error|exception|traceback|fatal|critical|panic)\b/i;
const CATEGORIES = 12;

function span(className: string, text: string): HTMLElement {
  return Object.assign(document.createElement("span"), { className, textContent: text });
}

/** `text` with each occurrence of `words` in a <mark>. */
function marked(text: string, words: string, isCurrent: boolean): (Node | string)[] {
  if (!words) return [text];
  const exact = words !== words.toLowerCase();
  const hay = exact ? text : text.toLowerCase();
  const parts: (Node | string)[] = [];
  let from = 0;
  for (let at = hay.indexOf(words); at >= 0; at = hay.indexOf(words, from)) {
    parts.push(text.slice(from, at));
    const mark = Object.assign(document.createElement("mark"), { textContent: text.slice(at, at + words.length) });
    if (isCurrent) mark.dataset.current = "";
    parts.push(mark);
    from = at + words.length;
  }
  parts.push(text.slice(from));
  return parts;
}

function who(line: LogLine, workers: string[]): HTMLElement {
  const element = span("who", line.worker);
  const dot = document.createElement("i");
  dot.className = `cat-${Math.max(0, workers.indexOf(line.worker)) % CATEGORIES}`;
  element.prepend(dot);
  element.title = line.worker;
  return element;
}

export function lineRow(line: LogLine, index: number, context: RowContext): HTMLElement {
  const row = document.createElement("div");
  row.className = "log-line";
  if (FAILURE.test(line.raw.slice(0, 400))) row.dataset.err = "";
  row.append(span("no", String(line.no)));
  if (context.showsWorker) row.append(who(line, context.workers));
  const isCut = line.raw.length > SHOWN_CHARACTERS && !context.whole.has(index);
  const text = document.createElement("span");
  for (const run of parseAnsi(isCut ? line.raw.slice(0, SHOWN_CHARACTERS) : line.raw)) {
    const part = span(run.classes, "");
    part.append(...marked(run.text, context.words, index === context.current));
    text.append(part);
  }
  row.append(text);
  if (isCut) {
    const more = Object.assign(document.createElement("button"), {
      type: "button",
      className: "more",
      textContent: ` … ${Math.round((line.raw.length - SHOWN_CHARACTERS) / 1024)} KB more`,
    });
    more.dataset.whole = String(index);
    row.append(more);
  }
  return row;
}
