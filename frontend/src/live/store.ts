/** What is known of one topic: whole objects by key, applied so that an older version never replaces a newer one. */

export interface LiveObject {
  kind: string;
  id: number | string;
  version: number;
  [field: string]: unknown;
}

/** An object that left: "kind/id", or an id where the topic carries one kind. */
export type Gone = string | number;

export interface Delta {
  seq: number | string;
  prev?: number | string;
  put?: LiveObject[];
  gone?: Gone[];
}

export interface StoreChange {
  /** Everything was replaced; listeners read the store anew. */
  whole: boolean;
  put: LiveObject[];
  gone: string[];
}

export function keyOf(object: Pick<LiveObject, "kind" | "id">): string {
  return `${object.kind}/${object.id}`;
}

export class TopicStore {
  readonly objects = new Map<string, LiveObject>();
  seq: number | string | null = null;

  /** Replaces everything by what the server holds now. */
  replace(seq: number | string, objects: LiveObject[]): StoreChange {
    this.objects.clear();
    for (const object of objects) this.objects.set(keyOf(object), object);
    this.seq = seq;
    return { whole: true, put: objects, gone: [] };
  }

  /** Applies what changed; null when something before it was missed and the topic must be asked for again. */
  apply(delta: Delta): StoreChange | null {
    if (delta.prev !== undefined && delta.prev !== this.seq) return null;
    const put = (delta.put ?? []).filter((object) => this.isNews(object));
    for (const object of put) this.objects.set(keyOf(object), object);
    const gone = (delta.gone ?? []).flatMap((name) => this.remove(name));
    this.seq = delta.seq;
    return { whole: false, put, gone };
  }

  private isNews(object: LiveObject): boolean {
    const known = this.objects.get(keyOf(object));
    return !known || object.version >= known.version;
  }

  private remove(name: Gone): string[] {
    const text = String(name);
    const keys = text.includes("/") ? [text] : [...this.objects.keys()].filter((key) => key.endsWith(`/${text}`));
    return keys.filter((key) => this.objects.delete(key));
  }
}
