/** `data-open="ID"` opens the dialog of that id, `data-close` closes the one around it; so does a click on the backdrop. */

export function watchDialogs(): void {
  document.addEventListener("click", (event) => {
    const target = event.target as Element;
    const opener = target.closest<HTMLElement>("[data-open]");
    if (opener) document.querySelector<HTMLDialogElement>(`#${opener.dataset.open}`)?.showModal();
    else if (target.closest("[data-close]")) target.closest("dialog")?.close();
    else if (target instanceof HTMLDialogElement) closeOnBackdrop(target, event);
  });
}

function closeOnBackdrop(dialog: HTMLDialogElement, event: MouseEvent): void {
  const box = dialog.getBoundingClientRect();
  const inside =
    event.clientX >= box.left && event.clientX <= box.right && event.clientY >= box.top && event.clientY <= box.bottom;
  if (!inside) dialog.close();
}
