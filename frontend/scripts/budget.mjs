// Fails the build when a page could load more script than the budget allows.
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const BUDGET_KB = 300;
const manifest = JSON.parse(readFileSync(new URL("../dist/.vite/manifest.json", import.meta.url)));

function closure(key, seen = new Set()) {
  if (seen.has(key)) return seen;
  seen.add(key);
  for (const next of [...(manifest[key].imports ?? []), ...(manifest[key].dynamicImports ?? [])]) closure(next, seen);
  return seen;
}

// The worst page is one that holds every island at once; real pages load fewer.
let total = 0;
for (const key of closure("src/app.ts")) {
  const file = manifest[key].file;
  if (file.endsWith(".js")) total += gzipSync(readFileSync(new URL(`../dist/${file}`, import.meta.url))).length;
}
const kilobytes = Math.round(total / 1024);
console.log(`script, every island together: ${kilobytes} KB compressed (budget ${BUDGET_KB})`);
if (kilobytes > BUDGET_KB) process.exit(1);
