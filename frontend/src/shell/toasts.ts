/** Short messages at the corner. An error stays until it is closed; others leave by themselves. */
import { icon } from "./icon";

const STAY_MS = 6000;

export function toast(text: string, level: "info" | "success" | "error" = "info"): void {
  const host = document.querySelector(".toasts");
  if (!host) return;
  const item = document.createElement("div");
  item.className = "toast";
  item.dataset.level = level;
  const words = document.createElement("span");
  words.textContent = text;
  const close = document.createElement("button");
  close.type = "button";
  close.setAttribute("aria-label", "Close this message");
  close.append(icon("close"));
  close.addEventListener("click", () => item.remove());
  item.append(icon(level === "error" ? "alert" : "check"), words, close);
  host.append(item);
  if (level !== "error") setTimeout(() => item.remove(), STAY_MS);
}

/** Requests of the page that fail say so; nothing is lost silently. */
export function watchErrors(): void {
  for (const item of document.querySelectorAll(".toasts > :not([data-level=error])"))
    setTimeout(() => item.remove(), STAY_MS);
  document.addEventListener("htmx:error", (event) => {
    // A refresh that fails is what the line's banner is about; only what somebody did can be lost.
    const request = (event as CustomEvent<{ ctx?: { request?: { method?: string } } }>).detail.ctx?.request;
    if ((request?.method ?? "GET").toUpperCase() === "GET") return;
    toast("The server could not be reached. What you did was not saved.", "error");
  });
  document.addEventListener("mu:toast", (event) => {
    const { text, level } = (event as CustomEvent<{ text: string; level?: "info" | "success" | "error" }>).detail;
    toast(text, level);
  });
}
