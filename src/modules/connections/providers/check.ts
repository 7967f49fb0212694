import { isKnownToken, tokensOf } from './interpolate.ts';
import { patternOf } from './pattern.ts';
import { isPostConnectionScript } from './post-connection.ts';
import type { Definition } from './schema.ts';

/**
 * Rules between fields (docs/reference/provider-format.md#templates): every template can be filled, and the mode has
 * the fields that it needs.
 * @returns `field: problem` of each mistake
 */
export function definitionProblems(definition: Definition): string[] {
  const { proxy } = definition;
  const problems = templatesOf(definition).flatMap(([field, template]) => {
    const tokens = tokensOf(template);
    const unset = tokens.filter((token) => !isSupplied(token, definition));
    const unknown = field.startsWith('proxy.')
      ? tokens.filter((token) => !isKnownToken(token))
      : [];
    const missing = tokens.filter((token) => !isGiven(field, token, definition));
    return [
      ...missing.map((token) => `${field}: \${${token}} is not in credentials`),
      ...unset.map((token) => `${field}: \${${token}} is not in connection_config`),
      ...unknown.map((token) => `${field}: \${${token}} is not a known token`),
    ];
  });
  if (definition.auth_mode === 'API_KEY' && !definition.credentials?.['apiKey']) {
    problems.push('credentials.apiKey: required by the mode API_KEY');
  }
  // In other modes not every callback is an authorization response (RFC 9207).
  if (definition.authorization_issuer !== undefined && definition.auth_mode !== 'OAUTH2') {
    problems.push('authorization_issuer: only allowed in the mode OAUTH2');
  }
  if (proxy?.verification && definition.credentials_verification_script) {
    problems.push('proxy.verification: cannot be combined with credentials_verification_script');
  }
  for (const field of scriptFields) {
    const name = definition[field];
    const isKnown = field === 'post_connection_script' && isPostConnectionScript(name ?? '');
    if (name !== undefined && !isKnown) problems.push(`${field}: unknown script "${name}"`);
  }
  for (const group of ['connection_config', 'credentials', 'integration_config'] as const) {
    for (const [name, { pattern }] of Object.entries(definition[group] ?? {})) {
      if (pattern !== undefined && !isPattern(pattern)) {
        problems.push(`${group}.${name}.pattern: not a regular expression`);
      }
    }
  }
  return problems;
}

const scriptFields = [
  'post_connection_script',
  'credentials_verification_script',
  'pre_connection_creation_script',
  'pre_connection_deletion_script',
] as const;

/** Token calls have only the values that the person entered. */
const ofTokenCalls = /^(?:token|token_url|token_params|token_headers|additional_steps)(?:\.|$)/;
const ownFieldModes = new Set<string>(['JWT', 'TWO_STEP']);

function isGiven(field: string, token: string, { auth_mode: mode, credentials = {} }: Definition) {
  const name = /^credentials\.(.+)$/.exec(token)?.[1];
  if (name === undefined || !ownFieldModes.has(mode) || !ofTokenCalls.test(field)) return true;
  return Object.hasOwn(credentials, name);
}

function isSupplied(token: string, definition: Definition): boolean {
  if (!token.startsWith('connectionConfig.')) return true;
  const name = token.slice('connectionConfig.'.length);
  const supplied = [
    ...Object.keys(definition.connection_config ?? {}),
    ...Object.keys(definition.proxy?.connection_config ?? {}),
    ...(definition.connection_configuration ?? []),
    ...(definition.token_response_metadata ?? []),
    ...(definition.redirect_uri_metadata ?? []),
  ];
  return supplied.includes(name);
}

/** Schemas of fields: their texts are for people, not templates. */
const fieldGroups = new Set([
  'connection_config',
  'credentials',
  'integration_config',
  'assertion_option',
]);

/** Every text of the definition that may be a template, with its field. */
function templatesOf(definition: Definition): [string, string][] {
  const fields = Object.entries(definition).filter(([name]) => !fieldGroups.has(name));
  return fields.flatMap(([name, value]) => textsOf(name, value));
}

function textsOf(field: string, value: unknown): [string, string][] {
  if (typeof value === 'string') return [[field, value]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    textsOf(Array.isArray(value) ? field : `${field}.${name}`, inner),
  );
}

function isPattern(source: string): boolean {
  try {
    patternOf(source);
    return true;
  } catch {
    return false;
  }
}
