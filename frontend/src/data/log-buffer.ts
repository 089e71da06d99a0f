/** Lines of one or several workers, assembled from chunks that may end anywhere; `\r` redraws the line it is in. */
import { stripAnsi } from "./ansi";

export interface LogLine {
  /** Number within its worker's log, from 1. */
  no: number;
  worker: string;
  raw: string;
}

/** What is kept; older lines are dropped, and the viewer says so. */
const MOST_LINES = 200_000;

interface Open {
  no: number;
  line: LogLine | null;
  /** Text of the line under way, from its start. */
  text: string;
}

/** What is seen of a line in which progress bars returned to its start: the last thing drawn. */
export function afterReturns(text: string): string {
  if (!text.includes("\r")) return text;
  const drawn = text.split("\r").filter((part) => part !== "");
  return drawn.at(-1) ?? "";
}

export class LogBuffer {
  readonly lines: LogLine[] = [];
  dropped = 0;
  private readonly open = new Map<string, Open>();

  /** Adds a chunk of `worker`'s output. */
  append(worker: string, chunk: string): void {
    const state = this.open.get(worker) ?? { no: 0, line: null, text: "" };
    this.open.set(worker, state);
    const parts = chunk.split("\n");
    parts.forEach((part, i) => {
      if (part) this.extend(state, worker, part);
      if (i < parts.length - 1) this.end(state, worker);
    });
    this.trim();
  }

  clear(): void {
    this.lines.length = 0;
    this.dropped = 0;
    this.open.clear();
  }

  private extend(state: Open, worker: string, part: string): void {
    const text = state.text + part;
    const shown = afterReturns(text);
    // What was overdrawn can never be seen again; keeping it would make a long progress bar quadratic.
    state.text = text.endsWith("\r") ? `${shown}\r` : shown;
    this.lineOf(state, worker).raw = shown;
  }

  private lineOf(state: Open, worker: string): LogLine {
    if (!state.line) {
      state.line = { no: ++state.no, worker, raw: "" };
      this.lines.push(state.line);
    }
    return state.line;
  }

  private end(state: Open, worker: string): void {
    this.lineOf(state, worker);
    state.line = null;
    state.text = "";
  }

  private trim(): void {
    const extra = this.lines.length - MOST_LINES;
    if (extra <= 0) return;
    this.lines.splice(0, extra);
    this.dropped += extra;
  }
}

/** Indices of the lines in which `words` occurs, case ignored unless it has capitals. */
export function findLines(lines: readonly LogLine[], words: string): number[] {
  if (!words) return [];
  const exact = words !== words.toLowerCase();
  return lines.flatMap((line, i) => {
    const text = stripAnsi(line.raw);
    return (exact ? text : text.toLowerCase()).includes(words) ? [i] : [];
  });
}
