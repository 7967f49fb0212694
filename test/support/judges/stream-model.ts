import type { JsonObject } from '#kernel/stable-json.ts';
import type { Random } from './random.ts';

interface Held {
  payload: JsonObject;
  isDeleted: boolean;
  isPruned: boolean;
  /** When it was last modified, as a number that only grows. */
  position: number;
}

interface Pass {
  readonly seen: Set<string>;
  /** Where the stream stood when it began. */
  readonly start: number;
}

type Item = JsonObject & { readonly id: string };
type Kind = 'save' | 'update' | 'delete';

const text = (value: unknown): string => JSON.stringify(value);

/** The rules of docs/reference/records.md#writes in their shortest form: the judge of the owners. */
export class StreamModel {
  #held = new Map<string, Held>();
  /** The pass that goes on from run to run, and that of the run. */
  #pass: Pass | null = null;
  #runPass: Pass | null = null;
  #clock = 0;
  counts = { added: 0, updated: 0, deleted: 0, unchanged: 0 };

  startRun(): void {
    this.counts = { added: 0, updated: 0, deleted: 0, unchanged: 0 };
  }

  randomCall(random: Random): { kind: Kind; records: Item[] } {
    const kind = random.pick(['save', 'save', 'save', 'update', 'delete'] as const);
    const ids = new Set(Array.from({ length: 1 + random.int(20) }, () => `r/${random.int(40)}`));
    const records = [...ids].map((id) => {
      const fields = { value: random.int(4), nested: { [`k${random.int(2)}`]: random.int(2) } };
      return kind === 'delete' ? { id } : { id, ...fields };
    });
    return { kind, records };
  }

  save(records: readonly Item[]): void {
    for (const payload of records) {
      const held = this.#held.get(payload.id);
      this.#see(payload.id);
      if (held === undefined || held.isDeleted) this.#put(payload.id, payload, 'added');
      else if (text(held.payload) !== text(payload)) this.#put(payload.id, payload, 'updated');
      else {
        held.isPruned = false;
        this.counts.unchanged++;
      }
    }
  }

  update(records: readonly Item[]): void {
    for (const { id, ...fields } of records) {
      const held = this.#held.get(id);
      if (held === undefined) continue;
      this.#see(id);
      const kept = held.isPruned ? { id } : held.payload;
      const nested = { ...(kept['nested'] as object | undefined), ...(fields['nested'] as object) };
      const payload = { ...kept, ...fields, nested } as JsonObject;
      const isSame = text(payload) === text(held.payload) && !held.isDeleted && !held.isPruned;
      if (isSame) this.counts.unchanged++;
      else this.#put(id, payload, 'updated');
    }
  }

  delete(records: readonly Item[]): void {
    for (const { id } of records) {
      const held = this.#held.get(id);
      if (held?.isDeleted === true) continue;
      this.#put(id, held?.payload ?? { id }, 'deleted', held?.isPruned);
    }
  }

  /** Returns how many were pruned. */
  prune(limit: number): number {
    const due = [...this.#held.values()].filter(({ isPruned }) => !isPruned);
    const oldest = due.sort((a, b) => a.position - b.position).slice(0, limit);
    for (const held of oldest) held.isPruned = true;
    return oldest.length;
  }

  empty(): void {
    this.#held = new Map();
  }

  passStart(): void {
    this.#pass ??= this.#begun();
  }

  /** Returns the keys that are deleted, sorted. */
  passEnd(): string[] {
    const pass = this.#pass;
    this.#pass = null;
    return this.#deleteUnseen(pass);
  }

  /** Every run succeeds: none goes on with the pass of another. */
  runPassStart(): void {
    this.#runPass = this.#begun();
  }

  /** Returns the keys that are deleted, sorted. */
  runPassEnd(): string[] {
    return this.#deleteUnseen(this.#runPass);
  }

  #begun(): Pass {
    return { seen: new Set(), start: this.#clock };
  }

  #deleteUnseen(pass: Pass | null): string[] {
    if (pass === null) return [];
    const { seen, start } = pass;
    const missing = [...this.#held].filter(([id, { isDeleted, position }]) => {
      return !isDeleted && !seen.has(id) && position <= start;
    });
    const ids = missing.sort(([, a], [, b]) => a.position - b.position).map(([id]) => id);
    this.delete(ids.map((id) => ({ id })));
    return ids.sort();
  }

  ids(): string[] {
    return [...this.#held.keys()];
  }

  payloads(): Record<string, JsonObject> {
    const entries = [...this.#held].map(([id, held]) => [
      id,
      held.isPruned ? { id } : held.payload,
    ]);
    return Object.fromEntries(entries) as Record<string, JsonObject>;
  }

  states() {
    const payloads = this.payloads();
    const entries = [...this.#held].map(([id, { isDeleted, isPruned }]) => {
      return [id, { payload: payloads[id], isDeleted, isPruned }];
    });
    return Object.fromEntries(entries) as Record<string, unknown>;
  }

  #see(id: string): void {
    this.#pass?.seen.add(id);
    this.#runPass?.seen.add(id);
  }

  #put(
    id: string,
    payload: JsonObject,
    what: 'added' | 'updated' | 'deleted',
    isPruned = false,
  ): void {
    const isDeleted = what === 'deleted';
    this.#held.set(id, { payload, isDeleted, isPruned, position: ++this.#clock });
    this.counts[what]++;
  }
}
