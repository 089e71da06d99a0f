/** Menus are popovers beside their button; arrows walk, Escape closes and gives the focus back. */

const GAP = 4;

function place(menu: HTMLElement, button: HTMLElement): void {
  const anchor = button.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = menu;
  const left = anchor.left + width > innerWidth - GAP ? anchor.right - width : anchor.left;
  const below = anchor.bottom + GAP;
  const top = below + height > innerHeight ? anchor.top - GAP - height : below;
  menu.style.left = `${Math.max(GAP, left)}px`;
  menu.style.top = `${Math.max(GAP, top)}px`;
}

function items(menu: HTMLElement): HTMLElement[] {
  return [...menu.querySelectorAll<HTMLElement>('[role^="menuitem"]:not(:disabled)')];
}

function step(menu: HTMLElement, by: number): void {
  const all = items(menu);
  const at = all.indexOf(document.activeElement as HTMLElement);
  all[(at + by + all.length) % all.length]?.focus();
}

function onToggle(event: Event): void {
  const menu = event.target as HTMLElement;
  if (!menu.matches?.(".menu-list")) return;
  const button = document.querySelector<HTMLElement>(`[popovertarget="${menu.id}"]`);
  const open = (event as ToggleEvent).newState === "open";
  button?.setAttribute("aria-expanded", String(open));
  if (!open || !button) return;
  place(menu, button);
  items(menu)[0]?.focus();
}

function onKey(event: KeyboardEvent): void {
  const menu = (event.target as Element).closest<HTMLElement>(".menu-list");
  if (!menu) return;
  const moves: Record<string, () => void> = {
    ArrowDown: () => step(menu, 1),
    ArrowUp: () => step(menu, -1),
    Home: () => items(menu)[0]?.focus(),
    End: () => items(menu).at(-1)?.focus(),
    Tab: () => menu.hidePopover(),
  };
  const move = moves[event.key];
  if (!move) return;
  if (event.key !== "Tab") event.preventDefault();
  move();
}

export function watchMenus(): void {
  document.addEventListener("toggle", onToggle, true);
  document.addEventListener("keydown", onKey);
  document.addEventListener("click", (event) => {
    const item = (event.target as Element).closest('[role^="menuitem"]');
    item?.closest<HTMLElement>("[popover]")?.hidePopover();
  });
}
