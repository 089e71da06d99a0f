/** What each device is coloured by, and the legend that follows from it. */
import type { Names } from "../data/nodes";
import { type Packed, hash, mute } from "./colour";
import { Glyph, type MapModel, NOBODY } from "./map-model";
import { type Palette, categoryColour } from "./palette";

export const COLOURINGS = ["job", "queue", "tenant", "state", "health"] as const;
export type Colouring = (typeof COLOURINGS)[number];

export interface LegendEntry {
  key: string;
  label: string;
  count: number;
  colour: Packed;
  glyph: Glyph;
}

export interface Coloured {
  /** shape (devices); the colour of what fills or outlines a device. */
  fill: Uint32Array;
  /** shape (devices); index into `legend`. */
  entry: Int32Array;
  legend: LegendEntry[];
}

const STATE_WORDS: Record<Glyph, string> = {
  [Glyph.FREE]: "free",
  [Glyph.USED]: "in use",
  [Glyph.SHARED]: "shared",
  [Glyph.NOMINATED]: "promised",
  [Glyph.OTHER]: "other pods",
  [Glyph.BAD]: "unhealthy",
  [Glyph.UNKNOWN]: "unknown",
};

const GLYPH_KEYS = Object.fromEntries(Object.values(Glyph).map((glyph) => [glyph, `glyph-${glyph}`])) as Record<
  Glyph,
  string
>;

function stateColours(palette: Palette): Record<Glyph, Packed> {
  return {
    [Glyph.FREE]: palette.free,
    [Glyph.USED]: palette.running,
    [Glyph.SHARED]: palette.starting,
    [Glyph.NOMINATED]: palette.queued,
    [Glyph.OTHER]: palette.other,
    [Glyph.BAD]: palette.bad,
    [Glyph.UNKNOWN]: palette.faint,
  };
}

function healthEntry(model: MapModel, device: number, palette: Palette): [string, Packed, Glyph] {
  const node = model.nodes[model.node[device] ?? 0];
  const gpu = node?.gpus[device - (model.first[model.node[device] ?? 0] ?? 0)];
  if (node && !node.ready) return ["node not ready", palette.bad, Glyph.UNKNOWN];
  if (gpu?.health === "dirty") return ["dirty", palette.stopping, Glyph.USED];
  if (gpu?.health === "unhealthy") return ["unhealthy", palette.bad, Glyph.BAD];
  if (gpu?.health === "unknown") return ["unknown", palette.faint, Glyph.UNKNOWN];
  return node?.cordoned
    ? ["cordoned", palette.queued, Glyph.USED]
    : ["healthy", palette.sequence[1] ?? palette.free, Glyph.USED];
}

function isOwned(glyph: Glyph): boolean {
  return glyph === Glyph.USED || glyph === Glyph.SHARED || glyph === Glyph.NOMINATED;
}

function rank(names: Record<string, unknown>): Map<string, number> {
  return new Map(
    Object.keys(names)
      .sort((a, b) => Number(a) - Number(b))
      .map((id, i) => [id, i]),
  );
}

/** Colour and label of a device's owner under `by`. */
class Owners {
  private readonly tenants: Map<string, number>;
  private readonly queues: Map<string, number>;

  constructor(
    private readonly model: MapModel,
    private readonly names: Names,
    private readonly palette: Palette,
  ) {
    this.tenants = rank(names.tenants);
    this.queues = rank(names.queues);
  }

  of(by: "job" | "queue" | "tenant", device: number): [string, string, Packed] {
    const id = this.model[by][device] ?? NOBODY;
    if (by === "job") return this.job(id);
    const order = by === "queue" ? this.queues : this.tenants;
    const label = (by === "queue" ? this.names.queues : this.names.tenants)[id] ?? `${by} ${id}`;
    return [String(id), label, categoryColour(this.palette, order.get(String(id)) ?? hash(String(id)) % 36)];
  }

  private job(id: number): [string, string, Packed] {
    const known = this.names.jobs[id];
    if (!known) return ["others", "another tenant", this.palette.other];
    return [String(id), known.name, categoryColour(this.palette, id)];
  }
}

/** Legend entries by key, each made once; devices only count. */
class Legend {
  readonly entries: LegendEntry[] = [];
  private readonly index = new Map<string, number>();

  /** Where the entry of this key is; made where there was none. */
  at(key: string, label: string, colour: Packed, glyph: Glyph): number {
    const known = this.index.get(key);
    if (known !== undefined) return known;
    const made = this.entries.push({ key, label, count: 0, colour, glyph }) - 1;
    this.index.set(key, made);
    return made;
  }
}

export function colourMap(model: MapModel, by: Colouring, names: Names, palette: Palette): Coloured {
  const devices = model.node.length;
  const fill = new Uint32Array(devices);
  const entry = new Int32Array(devices);
  const legend = new Legend();
  const owners = new Owners(model, names, palette);
  const states = stateColours(palette);
  // Words are looked up once per owner, not once per device: there are 80,000 of those.
  const byOwner = new Map<number, number>();
  const place = (device: number): number => {
    const glyph = model.glyph[device] as Glyph;
    if (by === "health") {
      const [label, colour, shown] = healthEntry(model, device, palette);
      return legend.at(label, label, colour, shown);
    }
    if (by === "state" || !isOwned(glyph))
      return legend.at(GLYPH_KEYS[glyph], STATE_WORDS[glyph], states[glyph], glyph);
    const id = model[by][device] ?? NOBODY;
    const known = byOwner.get(id);
    if (known !== undefined) return known;
    const [key, label, colour] = owners.of(by, device);
    const made = legend.at(key, label, colour, Glyph.USED);
    byOwner.set(id, made);
    return made;
  };
  for (let device = 0; device < devices; device++) {
    const at = place(device);
    const found = legend.entries[at] as LegendEntry;
    found.count++;
    entry[device] = at;
    fill[device] = model.batch[device] ? mute(found.colour) : found.colour;
  }
  return { fill, entry, legend: legend.entries };
}

/** The legend in the order it is shown: the largest owners first, what nobody has last. */
export function legendOrder(legend: LegendEntry[]): LegendEntry[] {
  const last = (one: LegendEntry) => (one.key.startsWith("glyph-") ? 1 : 0);
  return [...legend].sort((a, b) => last(a) - last(b) || b.count - a.count);
}
