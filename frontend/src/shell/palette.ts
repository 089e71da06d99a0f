/** Search and commands: Ctrl/⌘ K. Commands are known here; jobs, queues and nodes are asked of the server as one is typing. */
import { chooseTheme, toggleRail } from "./theme";
import { icon } from "./icon";

interface Entry {
  label: string;
  icon: string;
  group: string;
  note?: string;
  url?: string;
  run?: () => void;
}

const WAIT_MS = 120;
let entries: Entry[] = [];
let chosen = 0;
let asked = 0;

function pages(): Entry[] {
  return [...document.querySelectorAll<HTMLAnchorElement>(".rail-nav a")].map((link) => ({
    label: link.title,
    url: link.href,
    group: "Go to",
    icon: link.querySelector("use")?.getAttribute("href")?.split("#")[1] ?? "chevron-right",
  }));
}

const COMMANDS: Entry[] = [
  { label: "Use the light theme", icon: "sun", group: "Commands", run: () => chooseTheme("light") },
  { label: "Use the dark theme", icon: "moon", group: "Commands", run: () => chooseTheme("dark") },
  { label: "Use the system's theme", icon: "system", group: "Commands", run: () => chooseTheme("system") },
  { label: "Collapse or open the rail", icon: "panel-left", group: "Commands", run: toggleRail },
];

function dialog(): HTMLDialogElement | null {
  return document.querySelector("#palette");
}

function matches(words: string): Entry[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return [...pages(), ...COMMANDS].filter((entry) => wanted.every((word) => entry.label.toLowerCase().includes(word)));
}

async function ask(words: string): Promise<Entry[]> {
  const url = document.body.dataset.searchUrl;
  if (!url || words.trim().length < 2) return [];
  const answer = await fetch(`${url}?q=${encodeURIComponent(words)}`, { headers: { Accept: "application/json" } });
  return answer.ok ? ((await answer.json()) as { results: Entry[] }).results : [];
}

function option(entry: Entry, index: number): HTMLElement {
  const item = document.createElement("div");
  item.className = "palette-item";
  item.id = `palette-${index}`;
  item.setAttribute("role", "option");
  item.setAttribute("aria-selected", String(index === chosen));
  item.dataset.index = String(index);
  const label = document.createElement("span");
  label.className = "truncate-line";
  label.textContent = entry.label;
  item.append(icon(entry.icon), label);
  if (entry.note) item.append(Object.assign(document.createElement("small"), { textContent: entry.note }));
  return item;
}

function render(): void {
  const list = document.querySelector<HTMLElement>("#palette-list");
  const input = dialog()?.querySelector("input");
  if (!list || !input) return;
  list.replaceChildren();
  let group = "";
  entries.forEach((entry, index) => {
    if (entry.group !== group) {
      group = entry.group;
      list.append(
        Object.assign(document.createElement("div"), {
          className: "palette-group",
          textContent: group,
          role: "presentation",
        }),
      );
    }
    list.append(option(entry, index));
  });
  if (!entries.length)
    list.append(
      Object.assign(document.createElement("div"), {
        className: "palette-empty",
        textContent: "Nothing here has that name.",
        role: "option",
      }),
    );
  input.setAttribute("aria-activedescendant", entries.length ? `palette-${chosen}` : "");
  list.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
}

async function search(words: string): Promise<void> {
  const turn = ++asked;
  entries = matches(words);
  chosen = 0;
  render();
  await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
  if (turn !== asked) return;
  const found = await ask(words).catch(() => []);
  if (turn !== asked || !found.length) return;
  entries = [...found, ...matches(words)];
  render();
}

function follow(entry: Entry | undefined): void {
  if (!entry) return;
  dialog()?.close();
  if (entry.url) location.assign(entry.url);
  else entry.run?.();
}

function open(): void {
  const box = dialog();
  const input = box?.querySelector("input");
  if (!box || !input || box.open) return;
  input.value = "";
  box.showModal();
  input.focus();
  void search("");
}

function onKey(event: KeyboardEvent): void {
  if (event.key === "k" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    open();
  }
  if (!dialog()?.open || !["ArrowDown", "ArrowUp", "Enter"].includes(event.key)) return;
  event.preventDefault();
  if (event.key === "Enter") return follow(entries[chosen]);
  const by = event.key === "ArrowDown" ? 1 : -1;
  chosen = (chosen + by + entries.length) % Math.max(1, entries.length);
  render();
}

export function watchPalette(): void {
  document.addEventListener("keydown", onKey);
  document.addEventListener("click", (event) => {
    const target = event.target as Element;
    if (target.closest("[data-palette-open]")) open();
    const item = target.closest<HTMLElement>(".palette-item");
    if (item) follow(entries[Number(item.dataset.index)]);
  });
  dialog()
    ?.querySelector("input")
    ?.addEventListener("input", (event) => void search((event.target as HTMLInputElement).value));
}
