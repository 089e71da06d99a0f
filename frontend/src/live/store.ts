/** What is known of one topic: whole objects by id, applied so that an older version never replaces a newer one. */

export interface LiveObject {
  /** "kind:pk", unique within the topic. */
  id: string;
  version: number;
  [field: string]: unknown;
}

export interface Delta {
  seq: number;
  prev?: number;
  put?: LiveObject[];
  gone?: string[];
}

export interface StoreChange {
  /** Everything was replaced; listeners read the store anew. */
  whole: boolean;
  put: LiveObject[];
  gone: string[];
}

export class TopicStore {
  readonly objects = new Map<string, LiveObject>();
  seq: number | null = null;

  /** Replaces everything by what the server holds now. */
  replace(seq: number, objects: LiveObject[]): StoreChange {
    this.objects.clear();
    for (const object of objects) this.objects.set(object.id, object);
    this.seq = seq;
    return { whole: true, put: objects, gone: [] };
  }

  /** Applies what changed; null when something before it was missed and the topic must be asked for again. */
  apply(delta: Delta): StoreChange | null {
    if (delta.prev !== undefined && delta.prev !== this.seq) return null;
    const put = (delta.put ?? []).filter((object) => object.version >= (this.objects.get(object.id)?.version ?? 0));
    for (const object of put) this.objects.set(object.id, object);
    const gone = (delta.gone ?? []).filter((id) => this.objects.delete(id));
    this.seq = delta.seq;
    return { whole: false, put, gone };
  }
}
