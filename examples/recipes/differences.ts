import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '#kernel/stable-json.ts';

/** A record in a copy. */
export interface Copied {
  /** Id of the connection. */
  readonly connection: string;
  readonly id: string;
  readonly record: JsonObject;
}

/** Records that the copy lacks, has beside them, or has with other values. */
export function differencesOf(
  records: ReadonlyMap<string, JsonObject>,
  copy: readonly Copied[],
): string[] {
  const copies = new Map(copy.map(({ connection, id, record }) => [`${connection}/${id}`, record]));
  const missing = [...records.keys()].filter((key) => !copies.has(key));
  const surplus = [...copies.keys()].filter((key) => !records.has(key));
  const other = [...records].filter(([key, record]) => {
    const found = copies.get(key);
    return found !== undefined && !isDeepStrictEqual(found, record);
  });
  return [
    ...(copies.size === copy.length ? [] : [`${copy.length - copies.size} copies are double`]),
    ...missing.map((key) => `${key}: not copied`),
    ...surplus.map((key) => `${key}: no record`),
    ...other.map(([key, record]) => `${key}: ${JSON.stringify([record, copies.get(key)])}`),
  ];
}

/** Ends a recipe: prints some of what is wrong, and exits with 1 where something is. */
export function endWith(problems: readonly string[]): void {
  for (const line of problems.slice(0, 20)) console.error(line);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
