import { z } from 'zod';
import { protoKeysIn } from '#kernel/json-path.ts';
import type { Json } from '#kernel/stable-json.ts';
import type { InvalidCode, ValidationMode } from '#ports/sandbox.ts';
import { schemaOf } from './definition.ts';
import { invalidError } from './errors.ts';
import { log } from './log.ts';
import { quicklyValid } from './quick-validate.ts';

/**
 * Validates inputs and outputs of a function against the schemas of its definition, as JSON
 * (docs/reference/functions.md#definition). With `warn` violations are counted and logged in one line each at the
 * end; with `error` they are refused.
 */

/** Paths listed in one line. */
const pathsMax = 5;

type Definition = Readonly<Record<string, unknown>>;
/** Violations, as `path: why`; empty = none. */
type Check = (value: Json) => readonly string[];

interface Tally {
  readonly what: string;
  readonly fits: Check;
  count: number;
  readonly paths: Set<string>;
}

let mode: ValidationMode = 'off';
let definition: Definition = {};
let tallies = new Map<string, Tally>();

export function startValidation(wanted: ValidationMode, validated: Definition): void {
  mode = wanted;
  definition = validated;
  tallies = new Map();
}

export const isValidating = (): boolean => mode !== 'off';

/**
 * `stored` makes the record as it is stored; most need not be made to be checked. `isPart`: missing fields are in the stored
 * record. @throws Error `invalid_sync_record`
 */
export function checkRecord(
  model: string,
  row: unknown,
  stored: () => Json,
  isPart: boolean,
): void {
  const schema = ((definition['models'] ?? {}) as Definition)[model];
  if (mode === 'off' || quicklyValid(schema, row)) return;
  const what = `records of ${model}`;
  check({ what, schema, isPart, code: 'invalid_sync_record' }, stored());
}

/** @throws Error `invalid_action_input` */
export const checkInput = (input: Json): void =>
  check({ what: 'inputs', schema: definition['input'], code: 'invalid_action_input' }, input);

/** @throws Error `invalid_action_output` */
export const checkOutput = (output: Json): void =>
  check({ what: 'outputs', schema: definition['output'], code: 'invalid_action_output' }, output);

/** @throws Error `invalid_checkpoint` */
export const checkCheckpoint = (value: Json): void =>
  check(
    { what: 'checkpoints', schema: definition['checkpoint'], code: 'invalid_checkpoint' },
    value,
  );

/** @throws Error `invalid_metadata` */
export function checkMetadata(metadata: Json, isPart: boolean): void {
  const schema = definition['metadata'];
  check({ what: 'metadata', schema, isPart, code: 'invalid_metadata' }, metadata);
}

/** One line for each violation: its count and first path. */
export async function reportValidation(): Promise<void> {
  for (const { what, count, paths } of tallies.values()) {
    if (count === 0) continue;
    const first = [...paths].join('; ');
    await log(`Validation: ${count} ${what} do not fit the schema: ${first}`, { level: 'warn' });
  }
}

interface ValidationSubject {
  readonly what: string;
  readonly schema: unknown;
  readonly isPart?: boolean;
  readonly code: InvalidCode;
}

function check(subject: ValidationSubject, value: Json): void {
  // A definition may omit schemas; a value that is no schema is not checked.
  if (mode === 'off' || !(subject.schema instanceof z.ZodType)) return;
  if (quicklyValid(subject.schema, value)) return;
  const tally = tallyOf(subject);
  const wrong = tally.fits(value);
  if (wrong.length === 0) return;
  if (mode === 'error') {
    const message = `Invalid ${subject.what}: ${wrong.slice(0, pathsMax).join('; ')}`;
    throw invalidError(subject.code, message, { value, errors: wrong.slice(0, pathsMax * 4) });
  }
  tally.count += 1;
  for (const one of wrong) if (tally.paths.size < pathsMax) tally.paths.add(one);
}

function tallyOf({ what, schema, isPart = false }: ValidationSubject): Tally {
  const key = `${what}${isPart ? ' in part' : ''}`;
  const existing = tallies.get(key);
  if (existing !== undefined) return existing;
  const made = { what, fits: checkOf(schema, what, isPart), count: 0, paths: new Set<string>() };
  tallies.set(key, made);
  return made;
}

/** By its JSON Schema, which has no transforms and no undeclared keys. */
function checkOf(schema: unknown, what: string, isPart: boolean): Check {
  const { required, ...json } = schemaOf(schema, what);
  const whole = isPart || required === undefined ? json : { ...json, required };
  // Any value fits.
  if (Object.keys(whole).length === 0) return () => [];
  const zod = z.fromJSONSchema(whole);
  return (value) => {
    const unseen = protoKeysIn(value).map((path) => `${path}: This key cannot be checked.`);
    const parsed = zod.safeParse(value);
    if (parsed.success) return unseen;
    const wrong = parsed.error.issues.map(({ path, message }) =>
      path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`,
    );
    return [...wrong, ...unseen];
  };
}
