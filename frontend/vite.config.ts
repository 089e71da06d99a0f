import tailwindcss from "@tailwindcss/vite";
import { defineConfig } from "vitest/config";
import { iconSprite } from "./scripts/icons.mjs";

// `base: "./"` keeps chunks and fonts relative to each other, so the site works behind any path prefix.
export default defineConfig({
  base: "./",
  plugins: [tailwindcss(), iconSprite()],
  build: {
    outDir: "dist",
    manifest: true,
    target: ["chrome123", "firefox125", "safari17.5"],
    cssTarget: ["chrome123", "firefox125", "safari17.5"],
    assetsInlineLimit: 0,
    rolldownOptions: { input: { app: "src/app.ts" } },
  },
  test: {
    environment: "happy-dom",
    include: ["tests/**/*.test.ts"],
  },
});
