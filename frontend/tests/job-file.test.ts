import { describe, expect, it } from "vitest";
import { joinWords, lineOf, parseJobFile, readField, splitWords, writeField } from "../src/data/job-file";

const TEXT = `name: llama-ft
command: [torchrun, train.py]  # one process per GPU
workers: 4
topology: {preferred: rack}
`;

describe("job files", () => {
  it("reads fields by path", () => {
    const parsed = parseJobFile(TEXT);
    expect(readField(parsed, { path: "workers", kind: "number" })).toBe("4");
    expect(readField(parsed, { path: "topology.preferred", kind: "text" })).toBe("rack");
    expect(readField(parsed, { path: "command", kind: "words" })).toBe("torchrun train.py");
    expect(readField(parsed, { path: "image", kind: "text" })).toBe("");
  });

  it("changes one field and keeps comments and order", () => {
    const next = writeField(TEXT, { path: "workers", kind: "number" }, "8");
    expect(next).toContain("# one process per GPU");
    expect(next).toContain("workers: 8");
    expect(next.indexOf("name")).toBeLessThan(next.indexOf("command"));
  });

  it("adds and removes keys, and the list around the last one", () => {
    expect(writeField(TEXT, { path: "queue", kind: "text" }, "vision")).toContain("queue: vision");
    expect(writeField(TEXT, { path: "topology.preferred", kind: "text" }, "")).not.toContain("topology");
    expect(writeField("", { path: "name", kind: "text" }, "x")).toBe("name: x\n");
  });

  it("leaves text with a mistake alone and names the line", () => {
    const broken = "name: a\nworkers: [1, 2\n";
    expect(parseJobFile(broken).problems[0]?.line).toBeGreaterThan(1);
    expect(writeField(broken, { path: "name", kind: "text" }, "b")).toBe(broken);
  });

  it("finds the line of a key", () => {
    const parsed = parseJobFile(TEXT);
    expect(lineOf(parsed, "workers")).toBe(3);
    expect(lineOf(parsed, "topology.required")).toBe(4);
    expect(lineOf(parsed, "absent")).toBe(0);
  });

  it("splits and joins commands as a shell would", () => {
    expect(splitWords(`python -c 'print("a b")' ""`)).toEqual(["python", "-c", 'print("a b")', ""]);
    expect(splitWords(joinWords(["sh", "-c", "sleep 5; date"]))).toEqual(["sh", "-c", "sleep 5; date"]);
  });
});
