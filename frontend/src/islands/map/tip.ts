/** The one line beside the device that is pointed at, or where the keyboard stands. */
import type { MapLayout } from "../../draw/map-layout";

const MARGIN = 8;
const ROOM_ABOVE = 40;

function fill(tip: HTMLElement, words: string[]): void {
  const [first, ...rest] = words;
  const others = rest.map((text) => Object.assign(document.createElement("span"), { textContent: text }));
  tip.replaceChildren(first ?? "", ...others);
}

/** Shows `words` at a device of `layout`, within `box`; null hides the tip. */
export function placeTip(
  tip: HTMLElement,
  box: HTMLElement,
  layout: MapLayout,
  shown: { device: number; words: string[] } | null,
): void {
  tip.hidden = shown === null;
  if (!shown) return;
  fill(tip, shown.words);
  const x = (layout.deviceX[shown.device] ?? 0) - box.scrollLeft;
  const y = (layout.deviceY[shown.device] ?? 0) - box.scrollTop;
  const left = Math.max(MARGIN, Math.min(x - 12, box.clientWidth - tip.offsetWidth - MARGIN));
  const top = y > ROOM_ABOVE ? y - tip.offsetHeight - MARGIN : y + layout.cell + 10;
  tip.style.left = `${left}px`;
  tip.style.top = `${top}px`;
}
