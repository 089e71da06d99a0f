/** The controls above the map: what it is coloured by, its size, and the table behind it. */
import { html } from "lit";
import { COLOURINGS, type Colouring } from "../../draw/map-colours";
import { icon } from "../../shell/icon";

export interface BarActions {
  choose(colour: Colouring): void;
  zoom(by: number): void;
  toggleTable(): void;
}

interface Tool {
  label: string;
  icon: string;
  run(): void;
  isPressed?: boolean;
}

function tool({ label, icon: name, run, isPressed }: Tool): unknown {
  return html`<button
    type="button"
    class="btn btn-quiet btn-sm"
    data-icon
    aria-label=${label}
    title=${label}
    aria-pressed=${String(isPressed ?? false)}
    @click=${run}
  >
    ${icon(name)}
  </button>`;
}

function colouring(one: Colouring, isChosen: boolean, choose: (colour: Colouring) => void): unknown {
  const label = `${one[0]?.toUpperCase()}${one.slice(1)}`;
  return html`<button type="button" aria-pressed=${String(isChosen)} @click=${() => choose(one)}>${label}</button>`;
}

export function barView(colour: Colouring, showsTable: boolean, actions: BarActions): unknown {
  return html`<div class="map-bar">
    <div class="segmented" role="group" aria-label="Colour by">
      ${COLOURINGS.map((one) => colouring(one, one === colour, actions.choose))}
    </div>
    <div class="end">
      ${tool({ label: "Smaller", icon: "zoom-out", run: () => actions.zoom(-1) })}
      ${tool({ label: "Larger", icon: "zoom-in", run: () => actions.zoom(1) })}
      ${tool({ label: "Show as a table", icon: "table", run: actions.toggleTable, isPressed: showsTable })}
    </div>
  </div>`;
}
