/** CodeMirror as we dress it. It lives in a shadow root, where its styles need no leave from the content policy. */
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { HighlightStyle, bracketMatching, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { Problem } from "../../data/job-file";

const LOOK = EditorView.theme({
  "&": { height: "100%", fontSize: "var(--text-xs)", color: "var(--color-text)", background: "var(--color-sunken)" },
  "&.cm-focused": { outline: "2px solid var(--color-focus)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--font-mono)", lineHeight: "1.65", paddingBlock: "calc(var(--spacing) * 2)" },
  ".cm-content": { caretColor: "var(--color-text)" },
  ".cm-gutters": { background: "var(--color-sunken)", color: "var(--color-text-3)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { background: "var(--color-hover)" },
  ".cm-selectionBackground, &.cm-focused .cm-selectionBackground": { background: "var(--color-selected) !important" },
  ".cm-cursor": { borderColor: "var(--color-text)" },
  ".cm-tooltip": {
    background: "var(--color-raised)",
    border: "1px solid var(--color-line)",
    borderRadius: "var(--radius)",
    color: "var(--color-text)",
    fontFamily: "var(--font-sans)",
  },
});

const COLOURS = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--color-ansi-4)" },
  { tag: [tags.string, tags.content], color: "var(--color-text)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--color-ansi-5)" },
  { tag: tags.comment, color: "var(--color-text-3)" },
  { tag: [tags.punctuation, tags.separator], color: "var(--color-text-2)" },
]);

export interface EditorOptions {
  root: ShadowRoot;
  parent: HTMLElement;
  text: string;
  label: string;
  readOnly: boolean;
  changed(text: string): void;
}

export function createEditor(options: EditorOptions): EditorView {
  const state = EditorState.create({
    doc: options.text,
    extensions: [
      lineNumbers(),
      history(),
      drawSelection(),
      highlightActiveLine(),
      bracketMatching(),
      lintGutter(),
      indentUnit.of("  "),
      yaml(),
      LOOK,
      syntaxHighlighting(COLOURS),
      EditorState.readOnly.of(options.readOnly),
      // Escape, then Tab leaves the editor: keyboard users are never caught in it.
      keymap.of([
        {
          key: "Escape",
          run: (view) => {
            view.contentDOM.blur();
            return true;
          },
        },
        indentWithTab,
        ...defaultKeymap,
        ...historyKeymap,
      ]),
      EditorView.contentAttributes.of({ "aria-label": options.label }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) options.changed(update.state.doc.toString());
      }),
    ],
  });
  return new EditorView({ state, parent: options.parent, root: options.root });
}

export function replaceText(view: EditorView, text: string): void {
  if (view.state.doc.toString() !== text)
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
}

export function showProblems(view: EditorView, problems: Problem[]): void {
  const diagnostics = problems.map((problem): Diagnostic => {
    const line = view.state.doc.line(Math.max(1, Math.min(view.state.doc.lines, problem.line || 1)));
    return { from: line.from, to: line.to, severity: "error", message: problem.message };
  });
  view.dispatch(setDiagnostics(view.state, diagnostics));
}
