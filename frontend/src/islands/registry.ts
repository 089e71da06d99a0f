/** Loads an island's code when a page (or a swapped-in fragment) holds its element. */

const LOADERS: Record<string, () => Promise<unknown>> = {
  "mu-map": () => import("./map/map"),
  "mu-wiring": () => import("./wiring/wiring"),
  "mu-log": () => import("./log/log"),
  "mu-yaml": () => import("./yaml/yaml"),
  "mu-chart": () => import("./chart/chart"),
};

const loading = new Set<string>();

function loadWithin(root: ParentNode): void {
  for (const [tag, load] of Object.entries(LOADERS)) {
    if (loading.has(tag) || !root.querySelector(tag)) continue;
    loading.add(tag);
    load().catch((error: unknown) => {
      loading.delete(tag);
      console.error(`the island ${tag} could not be loaded`, error);
    });
  }
}

export function watchIslands(): void {
  loadWithin(document);
  new MutationObserver(() => loadWithin(document)).observe(document.body, { childList: true, subtree: true });
}
