// Gathers the icons that templates name into one sprite, so that a page fetches one small file.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/** Our name for an icon -> the name it has in lucide. */
const ICONS = {
  overview: "layout-dashboard",
  jobs: "list",
  submit: "square-plus",
  queues: "network",
  cluster: "server",
  fragmentation: "puzzle",
  settings: "settings",
  search: "search",
  close: "x",
  check: "check",
  copy: "copy",
  more: "ellipsis",
  "chevron-down": "chevron-down",
  "chevron-right": "chevron-right",
  "chevron-left": "chevron-left",
  "sort-up": "arrow-up",
  "sort-down": "arrow-down",
  plus: "plus",
  minus: "minus",
  filter: "list-filter",
  columns: "columns-3",
  sun: "sun",
  moon: "moon",
  system: "monitor",
  "panel-left": "panel-left",
  alert: "triangle-alert",
  info: "info",
  lock: "lock",
  empty: "inbox",
  offline: "unplug",
  stop: "circle-stop",
  clone: "copy-plus",
  pause: "pause",
  play: "play",
  node: "hard-drive",
  gpu: "cpu",
  external: "arrow-up-right",
  download: "download",
  table: "table-2",
  map: "grid-3x3",
  "sign-out": "log-out",
  user: "user",
  follow: "arrow-down-to-line",
  wrap: "wrap-text",
  "zoom-in": "zoom-in",
  "zoom-out": "zoom-out",
  cordon: "ban",
  expand: "maximize-2",
  terminal: "square-terminal",
  clock: "clock",
  code: "braces",
  key: "keyboard",
  shield: "shield",
};

function symbol([name, file]) {
  const svg = readFileSync(join(root, "node_modules/lucide-static/icons", `${file}.svg`), "utf8");
  const body = svg.slice(svg.indexOf(">", svg.indexOf("<svg")) + 1, svg.lastIndexOf("</svg>"));
  return `<symbol id="${name}" viewBox="0 0 24 24">${body.replace(/\s+/g, " ").trim()}</symbol>`;
}

export function iconSprite() {
  return {
    name: "icon-sprite",
    generateBundle() {
      const symbols = Object.entries(ICONS).map(symbol).join("\n");
      const source = `<svg xmlns="http://www.w3.org/2000/svg">\n${symbols}\n</svg>\n`;
      this.emitFile({ type: "asset", fileName: "icons.svg", source });
    },
  };
}
