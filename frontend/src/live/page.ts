/** The page's one live client, and the small elements that it keeps current. */
import { LiveClient, type LineState } from "./client";
import { setLiveClient } from "./current";
import { LiveElement } from "./element";

function socketUrl(): string | null {
  const path = document.body.dataset.liveUrl;
  return path ? `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${path}` : null;
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}

export function clock(moment: Date): string {
  return `${two(moment.getHours())}:${two(moment.getMinutes())}:${two(moment.getSeconds())}`;
}

function showLine(line: LineState): void {
  const words = line.state === "stale" ? `stale since ${clock(line.since)}` : line.state;
  for (const element of document.querySelectorAll("mu-line")) {
    element.setAttribute("state", line.state);
    element.textContent = words;
  }
  for (const banner of document.querySelectorAll<HTMLElement>("[data-stale-banner]")) {
    banner.hidden = line.state !== "stale";
    const since = banner.querySelector("[data-stale-since]");
    if (since && line.state === "stale") since.textContent = clock(line.since);
  }
}

export function startLive(): void {
  const url = socketUrl();
  if (!url || !document.querySelector("mu-line")) return;
  const client = new LiveClient(url);
  setLiveClient(client);
  client.watchLine(showLine);
  client.connect();
  addEventListener("online", () => client.wake());
  document.addEventListener("visibilitychange", () => document.hidden || client.wake());
  customElements.define("mu-live", LiveElement);
}
