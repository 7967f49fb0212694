import { z } from 'zod';
import { protoKeysIn } from '../../kernel/json-path.ts';
import type { Json, JsonObject } from '../../kernel/stable-json.ts';

/** A value that is not what its schema says. */
export interface Violation {
  readonly code: 'invalid_action_input' | 'invalid_action_output' | 'invalid_sync_record';
  /** `name: what is wrong`, one per place. */
  readonly lines: readonly string[];
  readonly value: Json;
}

/** A check against a function's JSON Schema, draft 7. */
export function schemaCheck(schema: JsonObject): (value: Json | undefined) => readonly string[] {
  // JSON Schema is what zod makes of the function's own schemas: it reads it back.
  const parser = z.fromJSONSchema(schema, {
    defaultTarget: 'draft-7',
  });
  return (value) => {
    const unseen = protoKeysIn(value ?? null).map((path) => `${path}: This key cannot be checked.`);
    const parsed = parser.safeParse(value ?? null);
    if (parsed.success) return unseen;
    const wrong = parsed.error.issues.map(({ path, message }) => {
      const where = path.map(String).join('.');
      return where === '' ? message : `${where}: ${message}`;
    });
    return [...wrong, ...unseen];
  };
}
