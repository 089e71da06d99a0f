/** The page's one live client; null where a page has no line (sign in, error pages). */
import type { LiveClient } from "./client";

let client: LiveClient | null = null;

export function liveClient(): LiveClient | null {
  return client;
}

export function setLiveClient(next: LiveClient): void {
  client = next;
}
