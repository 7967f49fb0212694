import type { SqlParam, SqlParams } from '#ports/projection-store.ts';

/** Conditions that all must hold, and the values of their parameters. */
export interface SqlConditions {
  readonly sql: string;
  readonly params: SqlParams;
}

/**
 * The conditions that have a value: of their one parameter, or of each parameter by name. Undefined, null and an empty
 * list are no value.
 */
export function where(
  wanted: Readonly<Record<string, SqlParam | SqlParams | undefined | null>>,
): SqlConditions {
  const conditions: string[] = [];
  const params: Record<string, SqlParam> = {};
  for (const [condition, value] of Object.entries(wanted)) {
    if (value === undefined || value === null || isEmptyList(value)) continue;
    conditions.push(condition);
    if (isNamed(value)) Object.assign(params, value);
    else params[/\{(\w+):/.exec(condition)?.[1] ?? ''] = value;
  }
  return { sql: conditions.join(' AND ') || '1', params };
}

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;
const isNamed = (value: SqlParam | SqlParams): value is SqlParams =>
  typeof value === 'object' && !Array.isArray(value);

/** Of a column of the type DateTime64(6). */
export const micros = (column: string): string => `toUnixTimestamp64Micro(${column})`;
/** Of a parameter in µs. */
export const timestamp = (name: string): string =>
  `fromUnixTimestamp64Micro({${name}:Int64}, 'UTC')`;
