import { GatewayError, type Issue } from '#kernel/errors.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import type { FieldSchema, Provider } from '../providers/definition.ts';
import { fieldProblem } from '../providers/field-check.ts';

/** Set by the application or the provider: refused from a browser. */
const reserved = new Set([
  'oauth_scopes_override',
  'authorization_params',
  'installation_id',
  'app_id',
  'jwtToken',
  'pending',
  'userCredentials',
]);
/** Sent by old clients for the address of webhooks, which a browser may not set. */
const dropped = 'webhook_url';

/**
 * Validates the configuration of the user (`params[name]=value`) against the provider's fields
 * (docs/reference/provider-format.md#field-schemas); other names are data. An absent field gets its default. @param
 * existing the existing configuration: by the application, or of the connection to reauthorize
 * @throws GatewayError `invalid_query_params` naming each field
 */
export function checkedParams(
  provider: Provider,
  params: Readonly<Record<string, string>>,
  existing: JsonObject,
): Readonly<Record<string, string>> {
  const fields = provider.connection_config ?? {};
  const values: Record<string, string> = {};
  const errors: Issue[] = [];
  const refuse = (name: string, message: string) =>
    void errors.push({ code: 'custom', message, path: ['params', name] });
  for (const [name, value] of Object.entries(params)) {
    if (name === dropped || value === '') continue;
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    const problem = problemOf(name, field, value);
    if (problem !== null) refuse(name, problem);
    else values[name] = value;
  }
  const all = { ...values, ...existing };
  for (const [name, field] of Object.entries(fields)) {
    if (isGiven(all[name]) || isGiven(params[name])) continue;
    if (field.default_value !== undefined) values[name] = field.default_value;
    else if (isNeeded(field, all)) refuse(name, 'The field is required.');
  }
  if (errors.length > 0) throw new GatewayError('invalid_query_params', { errors });
  return values;
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== '';

function problemOf(name: string, field: FieldSchema | undefined, value: string): string | null {
  if (reserved.has(name) || field?.automated === true)
    return 'The service fills this field itself.';
  return field === undefined ? null : fieldProblem(field, value);
}

function isNeeded(field: FieldSchema, values: JsonObject): boolean {
  if (field.optional === true || field.automated === true) return false;
  const { visible_when: condition } = field;
  return condition === undefined || values[condition.field] === condition.equals;
}
