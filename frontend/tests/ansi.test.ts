import { describe, expect, it } from "vitest";
import { parseAnsi, stripAnsi } from "../src/data/ansi";

const ESC = "\u001b";

describe("parseAnsi", () => {
  it.each([
    ["plain", "plain", [{ text: "plain", classes: "" }]],
    [
      "colour and reset",
      `a${ESC}[31mb${ESC}[0mc`,
      [
        { text: "a", classes: "" },
        { text: "b", classes: "a-1" },
        { text: "c", classes: "" },
      ],
    ],
    ["bold bright", `${ESC}[1;92mok`, [{ text: "ok", classes: "a-2 a-b" }]],
    ["256 colours", `${ESC}[38;5;196mred`, [{ text: "red", classes: "a-1" }]],
    ["true colour", `${ESC}[38;2;20;20;250mblue`, [{ text: "blue", classes: "a-4" }]],
    ["background takes no text colour", `${ESC}[48;5;196mx`, [{ text: "x", classes: "" }]],
    [
      "erase to the end of line is dropped",
      `50%${ESC}[K done`,
      [
        { text: "50%", classes: "" },
        { text: " done", classes: "" },
      ],
    ],
    ["a title is dropped", `${ESC}]0;title\u0007x`, [{ text: "x", classes: "" }]],
    ["nothing", "", []],
  ])("%s", (_, line, runs) => expect(parseAnsi(line)).toEqual(runs));

  it("strips what it cannot show", () => expect(stripAnsi(`${ESC}[1m${ESC}[35mstep${ESC}[0m 1`)).toBe("step 1"));
});
