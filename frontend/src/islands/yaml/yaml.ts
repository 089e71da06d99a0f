/**
 * <mu-yaml name="source" form="job-form" check="/submit/check/"> around a <textarea> — a job file, in step with the form's fields.
 *
 * Fields say where they live: [data-path="workers"][data-kind="number"]. The text is the truth; a field that changes is written into
 * it, and text that changes is read into the fields. The server judges both, and its answers go beside the field and the line.
 */
import type { EditorView } from "@codemirror/view";
import {
  type Field,
  type FieldKind,
  type Problem,
  lineOf,
  parseJobFile,
  readField,
  writeField,
} from "../../data/job-file";
import { createEditor, replaceText, showProblems } from "./editor";

type FormField = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

interface Judgement {
  errors: Record<string, string[]>;
  preview?: string;
  level?: string;
}

const CHECK_MS = 350;

const SHEET = ":host{display:block} .box{display:grid;min-height:inherit;overflow:hidden}";

export class YamlElement extends HTMLElement {
  private view: EditorView | null = null;
  private timer: ReturnType<typeof setTimeout> | null = null;
  private asked = 0;
  private isWriting = false;
  private readonly onField = (event: Event) => this.fromField(event.target as FormField);
  private readonly onTemplate = (event: Event) => this.useTemplate(event);

  connectedCallback(): void {
    const area = this.area;
    const root = this.shadowRoot ?? this.attachShadow({ mode: "open" });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(SHEET);
    root.adoptedStyleSheets = [sheet, ...root.adoptedStyleSheets];
    const box = Object.assign(document.createElement("div"), { className: "box" });
    root.replaceChildren(box);
    this.view = createEditor({
      root,
      parent: box,
      text: area?.value ?? "",
      label: this.getAttribute("label") ?? "Job file",
      readOnly: this.hasAttribute("readonly"),
      changed: (text) => this.fromText(text),
    });
    this.form?.addEventListener("input", this.onField);
    this.form?.addEventListener("click", this.onTemplate);
    if (this.form) this.fromText(this.text);
  }

  disconnectedCallback(): void {
    this.form?.removeEventListener("input", this.onField);
    this.form?.removeEventListener("click", this.onTemplate);
    this.view?.destroy();
  }

  private get area(): HTMLTextAreaElement | null {
    return this.querySelector("textarea");
  }

  private get form(): HTMLFormElement | null {
    return document.querySelector(`form#${this.getAttribute("form") ?? "none"}`);
  }

  private get text(): string {
    return this.view?.state.doc.toString() ?? "";
  }

  private fields(): [FormField, Field][] {
    const found = this.form?.querySelectorAll<FormField>("[data-path]") ?? [];
    return [...found].map((element) => [
      element,
      { path: element.dataset.path ?? "", kind: (element.dataset.kind ?? "text") as FieldKind },
    ]);
  }

  /** A field was changed by hand: write it into the text. */
  private fromField(element: FormField): void {
    const field = this.fields().find(([one]) => one === element)?.[1];
    if (!field || !this.view) return;
    const value =
      element instanceof HTMLInputElement && element.type === "checkbox" ? String(element.checked) : element.value;
    this.isWriting = true;
    replaceText(this.view, writeField(this.text, field, value));
    this.isWriting = false;
  }

  /** The text changed: keep the hidden textarea, the fields and the judgement in step. */
  private fromText(text: string): void {
    const area = this.area;
    if (area) area.value = text;
    const parsed = parseJobFile(text);
    if (!parsed.problems.length && !this.isWriting)
      for (const [element, field] of this.fields()) {
        const value = readField(parsed, field);
        setField(element, value);
        // What the file says is not hidden in a fold.
        if (value) element.closest("details")?.setAttribute("open", "");
      }
    if (this.view && parsed.problems.length) showProblems(this.view, parsed.problems);
    this.check(parsed.problems);
  }

  private useTemplate(event: Event): void {
    const button = (event.target as Element).closest<HTMLElement>("[data-template]");
    if (!button || !this.view) return;
    for (const other of this.form?.querySelectorAll("[data-template]") ?? [])
      other.setAttribute("aria-pressed", String(other === button));
    replaceText(this.view, button.dataset.template ?? "");
  }

  /** Asks the server what it thinks of the text, once it rests. */
  private check(problems: Problem[]): void {
    const url = this.getAttribute("check");
    if (this.timer) clearTimeout(this.timer);
    if (!url) return;
    this.show({ errors: {} }, problems);
    if (problems.length) return;
    this.timer = setTimeout(() => void this.ask(url), CHECK_MS);
  }

  private async ask(url: string): Promise<void> {
    const turn = ++this.asked;
    const token = this.form?.querySelector<HTMLInputElement>("[name=csrfmiddlewaretoken]")?.value ?? "";
    const body = new URLSearchParams({ source: this.text });
    const answer = await fetch(url, {
      method: "POST",
      body,
      headers: { "X-CSRFToken": token, Accept: "application/json" },
    }).catch(() => null);
    if (!answer?.ok || turn !== this.asked) return;
    this.show((await answer.json()) as Judgement, []);
  }

  private show(judgement: Judgement, problems: Problem[]): void {
    const parsed = parseJobFile(this.text);
    const fromServer = Object.entries(judgement.errors).flatMap(([path, messages]) =>
      messages.map((message) => ({ message, line: lineOf(parsed, path) })),
    );
    if (this.view) showProblems(this.view, [...problems, ...fromServer]);
    for (const [element, field] of this.fields()) showError(element, judgement.errors[field.path]?.[0] ?? "");
    const known = new Set(this.fields().map(([, field]) => field.path));
    const loose = Object.entries(judgement.errors)
      .filter(([path]) => !known.has(path))
      .flatMap(([path, messages]) => messages.map((one) => (path ? `${path}: ${one}` : one)));
    this.dispatchEvent(new CustomEvent("mu:judged", { bubbles: true, detail: judgement }));
    this.showSummary([...problems.map((one) => `Line ${one.line}: ${one.message}`), ...loose], judgement);
  }

  private showSummary(messages: string[], judgement: Judgement): void {
    const summary = document.querySelector<HTMLElement>("[data-summary]");
    if (!summary) return;
    const text = messages.length ? messages.join(" ") : (judgement.preview ?? "");
    summary.hidden = !text;
    summary.dataset.level = messages.length ? "bad" : (judgement.level ?? "info");
    const words = summary.querySelector("[data-summary-text]");
    if (words) words.textContent = text;
  }
}

function setField(element: FormField, value: string): void {
  if (element instanceof HTMLInputElement && element.type === "checkbox") element.checked = value === "true";
  else if (element.value !== value) element.value = value;
}

/** Puts a message under the field, or takes it away. */
function showError(element: FormField, message: string): void {
  const box = element.closest(".field");
  if (!box) return;
  const id = `${element.id}-error`;
  let line = box.querySelector<HTMLElement>(`#${CSS.escape(id)}`);
  if (!message) {
    line?.remove();
    element.removeAttribute("aria-invalid");
    return;
  }
  if (!line) {
    line = Object.assign(document.createElement("p"), { id, className: "field-error" });
    box.append(line);
  }
  line.textContent = message;
  element.setAttribute("aria-invalid", "true");
  element.setAttribute("aria-describedby", id);
}

customElements.define("mu-yaml", YamlElement);
