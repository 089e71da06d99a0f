/** Rows chosen in a table: the bar that acts on them appears, and "all" follows its rows. */

function update(form: HTMLElement): void {
  const rows = [...form.querySelectorAll<HTMLInputElement>("[data-select-row]")];
  const chosen = rows.filter((row) => row.checked).length;
  const all = form.querySelector<HTMLInputElement>("[data-select-all]");
  if (all) {
    all.checked = chosen > 0 && chosen === rows.length;
    all.indeterminate = chosen > 0 && chosen < rows.length;
  }
  const bar = form.querySelector<HTMLElement>("[data-selection-bar]");
  if (bar) bar.hidden = chosen === 0;
  for (const count of form.querySelectorAll("[data-selection-count]")) count.textContent = String(chosen);
}

export function watchSelection(): void {
  document.addEventListener("change", (event) => {
    const box = event.target as HTMLInputElement;
    const form = box.closest<HTMLElement>("[data-selection]");
    if (!form) return;
    if (box.matches("[data-select-all]"))
      for (const row of form.querySelectorAll<HTMLInputElement>("[data-select-row]")) row.checked = box.checked;
    update(form);
  });
  document.addEventListener("click", (event) => {
    const form = (event.target as Element).closest("[data-select-none]")?.closest<HTMLElement>("[data-selection]");
    if (!form) return;
    for (const row of form.querySelectorAll<HTMLInputElement>("[data-select-row]")) row.checked = false;
    update(form);
  });
}
