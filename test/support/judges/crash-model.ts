import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '#kernel/stable-json.ts';
import type { Random } from './random.ts';

/** One call of a saver, as the child makes it and as the model judges it. */
export interface Operation {
  readonly kind: 'save' | 'update' | 'delete';
  readonly model: string;
  readonly records: readonly (JsonObject & { readonly id: string })[];
}

export interface Kept {
  readonly payload: JsonObject;
  readonly isDeleted: boolean;
}

export type Records = ReadonlyMap<string, Kept>;

export const models = ['Alpha', 'Beta'] as const;

/** The nth operation of a seed: the parent and the child make the same. */
export function operation(random: Random, idsOfModel = 120): Operation {
  const kind = random.pick(['save', 'save', 'save', 'update', 'delete'] as const);
  const ids = new Set(
    Array.from({ length: 1 + random.int(40) }, () => `r${random.int(idsOfModel)}`),
  );
  const records = [...ids].map((id) => {
    if (kind === 'delete') return { id };
    const fields = { value: random.int(6), nested: { [`k${random.int(3)}`]: random.int(4) } };
    return { id, ...fields, ...(kind === 'save' ? { list: [random.int(3)] } : {}) };
  });
  return { kind, model: random.pick(models), records };
}

/** What the operation makes of the records: the rules of docs/reference/records.md#writes in short. */
export function apply(before: Records, { kind, records }: Operation): Records {
  const after = new Map(before);
  for (const record of records) {
    const known = after.get(record.id);
    if (kind === 'save') after.set(record.id, { payload: record, isDeleted: false });
    else if (kind === 'delete')
      after.set(record.id, { payload: known?.payload ?? { id: record.id }, isDeleted: true });
    else if (known !== undefined)
      after.set(record.id, { payload: merge(known.payload, record), isDeleted: false });
  }
  return after;
}

function merge(kept: JsonObject, given: JsonObject): JsonObject {
  const merged: Record<string, JsonObject[string]> = { ...kept };
  for (const [key, value] of Object.entries(given)) {
    const present = merged[key];
    merged[key] = isPlain(present) && isPlain(value) ? merge(present, value) : value;
  }
  return merged;
}

const isPlain = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function sameRecords(a: Records, b: Records): boolean {
  return a.size === b.size && [...a].every(([id, kept]) => isDeepStrictEqual(kept, b.get(id)));
}
