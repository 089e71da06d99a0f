import { describe, expect, it } from "vitest";
import { LogBuffer, findLines } from "../src/data/log-buffer";

function lines(...chunks: string[]): string[] {
  const buffer = new LogBuffer();
  for (const chunk of chunks) buffer.append("worker-0", chunk);
  return buffer.lines.map((line) => line.raw);
}

describe("LogBuffer", () => {
  it.each([
    ["whole lines", ["a\nb\n"], ["a", "b"]],
    ["a line in pieces", ["hel", "lo\nwor", "ld"], ["hello", "world"]],
    ["an empty line", ["a\n\nb\n"], ["a", "", "b"]],
    ["windows ends", ["a\r\nb\r\n"], ["a", "b"]],
    ["a progress bar", ["10%\r20%\r30%\ndone\n"], ["30%", "done"]],
    ["a bar in pieces", ["10%", "\r20", "%\r", "30%"], ["30%"]],
    ["a bar that ends in a return", ["99%\r100%\r", "\nok\n"], ["100%", "ok"]],
  ])("%s", (_, chunks, expected) => expect(lines(...chunks)).toEqual(expected));

  it("keeps a line of 256 KB whole", () => {
    const long = "x".repeat(256 * 1024);
    expect(lines(long.slice(0, 100_000), `${long.slice(100_000)}\n`)).toEqual([long]);
  });

  it("keeps workers apart and numbers each by itself", () => {
    const buffer = new LogBuffer();
    buffer.append("worker-0", "half ");
    buffer.append("worker-1", "other\n");
    buffer.append("worker-0", "whole\n");
    expect(buffer.lines).toMatchObject([
      { worker: "worker-0", no: 1, raw: "half whole" },
      { worker: "worker-1", no: 1, raw: "other" },
    ]);
  });

  it("finds lines; capitals make it exact", () => {
    const buffer = new LogBuffer();
    buffer.append("w", "Loss 1\n\u001b[31mloss\u001b[0m 2\nx\n");
    expect(findLines(buffer.lines, "loss")).toEqual([0, 1]);
    expect(findLines(buffer.lines, "Loss")).toEqual([0]);
  });
});
