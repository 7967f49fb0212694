import { draft7 } from '#json-schema/ajv.ts';
import { problemLine, problemsOf } from '#json-schema/problems.ts';
import { protoKeysIn } from '#kernel/json-path.ts';
import type { Json, JsonObject } from '#kernel/stable-json.ts';

/** A value that violates its schema. */
export interface Violation {
  readonly code: 'invalid_action_input' | 'invalid_action_output' | 'invalid_sync_record';
  /** `name: what is wrong`, one line per path. */
  readonly lines: readonly string[];
  readonly value: Json;
}

/** A check against a function's JSON Schema, draft 7. */
export function schemaCheck(schema: JsonObject): (value: Json | undefined) => readonly string[] {
  const validate = draft7({ allErrors: true, code: { regExp: patternOf } }).compile(schema);
  return (value) => {
    // The gateway refuses such a key whatever the schema says.
    const protoKeys = protoKeysIn(value ?? null);
    const wrong = validate(value ?? null) ? [] : problemsOf(validate.errors ?? []);
    return [
      ...wrong.filter(({ path }) => !protoKeys.includes(path)).map(problemLine),
      ...protoKeys.map((path) => `${path}: This key cannot be checked.`),
    ];
  };
}

/** With the flag `u` where the pattern has that syntax: JSON Schema keeps no flags of an expression. */
const patternOf = Object.assign(
  (pattern: string): RegExp => {
    try {
      // oxlint-disable-next-line svc/literal-pattern -- of the function that runs here
      return new RegExp(pattern, 'u');
    } catch {
      // oxlint-disable-next-line svc/literal-pattern -- as above
      return new RegExp(pattern);
    }
  },
  { code: 'patternOf' },
);
