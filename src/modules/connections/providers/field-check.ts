import { GatewayError, type Issue } from '#kernel/errors.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import type { FieldSchema, Provider } from './definition.ts';
import { patternOf } from './pattern.ts';

const valueCharsMax = 8192;
const formats: Readonly<Record<NonNullable<FieldSchema['format']>, RegExp>> = {
  hostname: /^(?=.{1,253}$)[a-z0-9-]+(\.[a-z0-9-]+)*$/i,
  uri: /^[a-z][a-z0-9+.-]*:\S+$/i,
  uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  email: /^[^@\s]+@[^@\s]+$/,
};

/**
 * Checks values against the field schemas of a provider (docs/reference/provider-format.md#field-schemas): required
 * unless optional, pattern, format, enum; no others.
 * @param isPatch only the fields that are sent are checked, and an empty value clears an optional field.
 * @throws GatewayError `invalid_body` with issues under `name`
 */
export function checkFields(
  name: string,
  fields: Readonly<Record<string, FieldSchema>>,
  values: Readonly<Record<string, string>>,
  { isPatch = false } = {},
): void {
  const errors: Issue[] = [];
  const refuse = (code: string, field: string, message: string) => {
    errors.push({ code, message, path: [name, field] });
  };
  for (const key of Object.keys(values)) {
    if (!Object.hasOwn(fields, key))
      refuse('unrecognized_keys', key, 'The provider does not have this field.');
  }
  for (const [key, field] of Object.entries(fields)) {
    const value = Object.hasOwn(values, key) ? values[key] : undefined;
    const isMissing = value === undefined || value === '';
    if (!isMissing) {
      const problem = fieldProblem(field, value);
      if (problem !== null) refuse('custom', key, problem);
    } else if (!field.optional && !field.automated && !(isPatch && value === undefined)) {
      refuse('custom', key, 'The field is required.');
    }
  }
  if (errors.length > 0) throw new GatewayError('invalid_body', { errors });
}

/** The problem of a value; null when it fits. */
export function fieldProblem(
  { pattern, format, enum: choices }: FieldSchema,
  value: string,
): string | null {
  if (value.length > valueCharsMax) return `At most ${valueCharsMax} characters.`;
  if (choices && !choices.includes(value)) return `One of ${choices.join(', ')}.`;
  if (format && !formats[format].test(value)) return `Not a valid ${format}.`;
  if (pattern && !patternOf(pattern).test(value)) return `Does not match ${pattern}.`;
  return null;
}

/**
 * Values of a connection with the defaults of the fields that it lacks, as templates read them: imports and connections
 * that are older than a field have no value of it.
 */
export function withDefaults(
  { connection_config: fields = {} }: Provider,
  values: JsonObject,
): JsonObject {
  const defaults = Object.entries(fields).flatMap(([name, { default_value: value }]) =>
    value === undefined || (values[name] ?? '') !== '' ? [] : [[name, value] as const],
  );
  return defaults.length === 0 ? values : { ...values, ...Object.fromEntries(defaults) };
}

/** Values of an import with those that it has under other names of the provider's fields; its own names stay. */
export function withAliasedFields(
  { connection_config: fields = {} }: Provider,
  values: JsonObject,
): JsonObject {
  const aliased = Object.entries(fields).flatMap(([name, { aliases = [] }]) => {
    const alias = aliases.find((other) => Object.hasOwn(values, other));
    const value = alias === undefined ? undefined : values[alias];
    return value === undefined || Object.hasOwn(values, name) ? [] : [[name, value] as const];
  });
  return { ...values, ...Object.fromEntries(aliased) };
}
