/** Keeps "3 min ago" true while the page stays open. */

const EVERY_MS = 15_000;
const DAY_S = 86_400;

export function span(seconds: number): string {
  const parts: [number, string][] = [
    [Math.floor(seconds / DAY_S), "d"],
    [Math.floor(seconds / 3600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "min"],
    [Math.floor(seconds) % 60, "s"],
  ];
  const shown = parts.filter(([n]) => n > 0).slice(0, 2);
  return shown.map(([n, unit]) => `${n} ${unit}`).join(" ") || "0 s";
}

export function ago(moment: Date, now = Date.now()): string | null {
  const seconds = (now - moment.getTime()) / 1000;
  if (seconds > DAY_S) return null;
  return seconds < 5 ? "just now" : `${span(seconds)} ago`;
}

export function keepTimesCurrent(): void {
  setInterval(() => {
    for (const time of document.querySelectorAll<HTMLTimeElement>("time[data-ago]")) {
      const words = ago(new Date(time.dateTime));
      if (words) time.textContent = words;
    }
  }, EVERY_MS);
}
