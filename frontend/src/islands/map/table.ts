/** The table behind the map: a row per node, or per innermost domain where there are too many nodes to read. */
import { html } from "lit";
import type { Names, WireNode } from "../../data/nodes";
import { Glyph, type MapModel } from "../../draw/map-model";

const READABLE = 400;

export interface TableRow {
  name: string;
  place: string;
  total: number;
  used: number;
  free: number;
  bad: number;
  owners: string;
}

function ownersOf(nodes: WireNode[], names: Names): string {
  const found = new Set<string>();
  for (const node of nodes)
    for (const gpu of node.gpus)
      for (const hold of gpu.holds) found.add(names.jobs[hold.job]?.name ?? "another tenant");
  const all = [...found];
  return all.length > 4 ? `${all.slice(0, 4).join(", ")} and ${all.length - 4} more` : all.join(", ");
}

function rowOf(model: MapModel, slots: number[], name: string, names: Names): TableRow {
  const counts = new Array<number>(7).fill(0);
  for (const slot of slots)
    for (let at = model.first[slot] ?? 0; at < (model.first[slot + 1] ?? 0); at++) {
      const glyph = model.glyph[at] ?? 0;
      counts[glyph] = (counts[glyph] ?? 0) + 1;
    }
  const nodes = slots.flatMap((slot) => model.nodes[slot] ?? []);
  const of = (...glyphs: number[]) => glyphs.reduce((sum, glyph) => sum + (counts[glyph] ?? 0), 0);
  return {
    name,
    place: model.levels
      .map((level) => nodes[0]?.domains[level] ?? "")
      .filter(Boolean)
      .join(" / "),
    total: counts.reduce((a, b) => a + b, 0),
    used: of(Glyph.USED, Glyph.SHARED, Glyph.OTHER, Glyph.NOMINATED),
    free: of(Glyph.FREE),
    bad: of(Glyph.BAD, Glyph.UNKNOWN),
    owners: ownersOf(nodes, names),
  };
}

export function tableRows(model: MapModel, names: Names): TableRow[] {
  const level = model.levels.at(-1);
  if (model.nodes.length <= READABLE || level === undefined)
    return model.nodes.slice(0, READABLE).map((node, slot) => rowOf(model, [slot], node.name, names));
  const groups = new Map<string, number[]>();
  model.nodes.forEach((node, slot) => {
    const key = model.levels.map((one) => node.domains[one] ?? "").join(" / ");
    groups.set(key, [...(groups.get(key) ?? []), slot]);
  });
  return [...groups].map(([key, slots]) => rowOf(model, slots, key, names));
}

export function tableView(model: MapModel, names: Names): unknown {
  const rows = tableRows(model, names);
  return html`<table class="table compact">
    <caption class="sr-only">
      GPUs by node
    </caption>
    <thead>
      <tr>
        <th scope="col">Name</th>
        <th scope="col">Place</th>
        <th scope="col" class="num">GPUs</th>
        <th scope="col" class="num">In use</th>
        <th scope="col" class="num">Free</th>
        <th scope="col" class="num">Unhealthy</th>
        <th scope="col">Jobs</th>
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        (row) =>
          html`<tr>
            <th scope="row">${row.name}</th>
            <td>${row.place}</td>
            <td class="num">${row.total}</td>
            <td class="num">${row.used}</td>
            <td class="num">${row.free}</td>
            <td class="num">${row.bad}</td>
            <td>${row.owners || "nobody"}</td>
          </tr>`,
      )}
    </tbody>
  </table>`;
}
