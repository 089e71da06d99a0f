/** Tabs with roving focus; the chosen one is kept in the address so that a link leads back to it. */

function select(tab: HTMLElement, focus: boolean): void {
  const list = tab.closest<HTMLElement>("[role=tablist]");
  for (const other of list?.querySelectorAll<HTMLElement>("[role=tab]") ?? []) {
    const chosen = other === tab;
    other.setAttribute("aria-selected", String(chosen));
    other.tabIndex = chosen ? 0 : -1;
    const panel = document.getElementById(other.getAttribute("aria-controls") ?? "");
    if (panel) panel.hidden = !chosen;
  }
  if (focus) tab.focus();
}

function remember(tab: HTMLElement): void {
  history.replaceState(history.state, "", `#${tab.getAttribute("aria-controls")}`);
}

function onKey(event: KeyboardEvent): void {
  const tab = (event.target as Element).closest<HTMLElement>("[role=tab]");
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!tab || !by) return;
  const all = [...(tab.closest("[role=tablist]")?.querySelectorAll<HTMLElement>("[role=tab]") ?? [])];
  const next = all[(all.indexOf(tab) + by + all.length) % all.length];
  if (!next) return;
  event.preventDefault();
  select(next, true);
  remember(next);
}

export function watchTabs(): void {
  document.addEventListener("keydown", onKey);
  document.addEventListener("click", (event) => {
    const tab = (event.target as Element).closest<HTMLElement>("[role=tab]");
    if (!tab) return;
    select(tab, false);
    remember(tab);
  });
  const named =
    location.hash &&
    document.querySelector<HTMLElement>(`[role=tab][aria-controls="${CSS.escape(location.hash.slice(1))}"]`);
  if (named) select(named, false);
}
