/** Small verbs named in the markup: copy, go to, submit on change. */
import { toast } from "./toasts";

async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast("Copied", "success");
  } catch {
    toast("The browser does not allow copying here", "error");
  }
}

export function watchActions(): void {
  document.addEventListener("click", (event) => {
    const button = (event.target as Element).closest<HTMLElement>("[data-copy]");
    if (button) void copy(button.dataset.copy ?? "");
  });
  document.addEventListener("change", (event) => {
    const field = event.target as HTMLInputElement;
    if (field.matches("[data-submit-on-change]")) field.form?.requestSubmit();
  });
}
