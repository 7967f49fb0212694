import { z } from 'zod';
import { protoKeysIn } from '#kernel/json-path.ts';
import type { Json } from '#kernel/stable-json.ts';
import type { InvalidCode, RunContext, ValidationMode } from '#ports/sandbox.ts';
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
/** A place of a value that does not fit. */
interface Violation {
  readonly code: string;
  readonly message: string;
  readonly path: readonly PropertyKey[];
}
/** Empty = none. */
type Check = (value: Json) => readonly Violation[];

interface Tally {
  readonly what: string;
  readonly fits: Check;
  count: number;
  readonly paths: Set<string>;
}

let mode: ValidationMode = 'off';
let inputMode: ValidationMode = mode;
let definition: Definition = {};
let tallies = new Map<string, Tally>();

export function startValidation(
  { validation, inputValidation }: Pick<RunContext, 'validation' | 'inputValidation'>,
  validated: Definition,
): void {
  mode = validation;
  inputMode = inputValidation;
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

/** A check against the schema of the definition that is named in the singular. @throws Error with the code */
const checkBy =
  (code: InvalidCode, what: string) =>
  (value: Json, isPart = false): void =>
    check({ what, schema: definition[what.replace(/s$/, '')], isPart, code }, value);

export const checkInput = checkBy('invalid_action_input', 'inputs');
export const checkOutput = checkBy('invalid_action_output', 'outputs');
export const checkCheckpoint = checkBy('invalid_checkpoint', 'checkpoints');
export const checkMetadata = checkBy('invalid_metadata', 'metadata');

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
  const applied = subject.what === 'inputs' ? inputMode : mode;
  // A definition may omit schemas; a value that is no schema is not checked.
  if (applied === 'off' || !(subject.schema instanceof z.ZodType)) return;
  if (quicklyValid(subject.schema, value)) return;
  const tally = tallyOf(subject);
  const wrong = tally.fits(value);
  if (wrong.length === 0) return;
  const lines = wrong.map(({ path, message }) =>
    path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`,
  );
  if (applied === 'error') {
    const message = `Invalid ${subject.what}: ${lines.slice(0, pathsMax).join('; ')}`;
    throw invalidError(subject.code, message, { value, violations: wrong.slice(0, 20) });
  }
  tally.count += 1;
  for (const one of lines) if (tally.paths.size < pathsMax) tally.paths.add(one);
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
    const message = 'This key cannot be checked.';
    const unseen = protoKeysIn(value).map((path) => ({ code: 'custom', message, path: [path] }));
    return [...(zod.safeParse(value).error?.issues ?? []), ...unseen];
  };
}
