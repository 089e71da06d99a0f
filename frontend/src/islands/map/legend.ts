/** The legend, which is also the filter. */
import { html } from "lit";
import { ref } from "lit/directives/ref.js";
import { type Coloured, type LegendEntry, legendOrder } from "../../draw/map-colours";
import { paintGlyph } from "../../draw/map-painter";
import type { Palette } from "../../draw/palette";

const SHOWN = 14;
const SIZE = 12;

function drawSwatch(element: Element | undefined, entry: LegendEntry, palette: Palette | null): void {
  const canvas = element as HTMLCanvasElement | undefined;
  const context = canvas?.getContext("2d");
  if (!canvas || !context || !palette) return;
  const scale = devicePixelRatio || 1;
  const side = Math.round(SIZE * scale);
  canvas.width = side;
  canvas.height = side;
  const image = new ImageData(side, side);
  paintGlyph(
    { pixels: new Uint32Array(image.data.buffer), width: side, height: side, left: 0, top: 0, scale },
    entry.glyph,
    entry.colour,
    palette,
  );
  context.putImageData(image, 0, 0);
}

export function legendView(
  coloured: Coloured,
  palette: Palette | null,
  filter: Set<string>,
  toggle: (key: string) => void,
): unknown {
  const all = legendOrder(coloured.legend);
  const owners = all.filter((entry) => !entry.key.startsWith("glyph-"));
  const shown = all.filter((entry) => entry.key.startsWith("glyph-") || owners.indexOf(entry) < SHOWN);
  const more = owners.length - SHOWN;
  return html`<div class="legend" role="group" aria-label="Legend; choose to filter">
    ${shown.map(
      (entry) =>
        html`<button type="button" aria-pressed=${String(filter.has(entry.key))} @click=${() => toggle(entry.key)}>
          <canvas aria-hidden="true" ${ref((element) => drawSwatch(element, entry, palette))}></canvas
          ><span class="truncate-line">${entry.label}</span><b>${entry.count}</b>
        </button>`,
    )}
    ${more > 0 ? html`<span class="faint self-center text-xs">and ${more} more</span>` : ""}
  </div>`;
}
