import type { Provider } from '#client/index.ts';
import { textAt } from '#kernel/json-path.ts';
import { isJsonObject, objectOf, type Json, type JsonObject } from '#kernel/stable-json.ts';
import { mappedFields, type Mapping } from './mapping.ts';
import { CannotCome, type Problem } from './problem.ts';
import type { SourceData } from './read.ts';

/** What an import needs of a provider of the catalog. */
export interface CatalogProvider {
  readonly auth_mode: string;
  /** The provider's own credential fields, by name. */
  readonly credentials?: Json;
  readonly connection_config?: Json;
}

type CredentialFields = Readonly<Record<string, boolean>>;

/** An access token of OAuth 2, with what renews it. */
const oauthFields = {
  access_token: true,
  refresh_token: false,
  expires_at: false,
  config_override: false,
};

/**
 * Fields that `POST /connections` takes, by mode (docs/reference/auth-modes.md#credentials); `true`: required, null:
 * those that the provider declares.
 */
const fieldsByMode: Readonly<Record<Provider['auth_mode'], CredentialFields | null>> = {
  OAUTH1: { oauth_token: true, oauth_token_secret: true },
  OAUTH2: oauthFields,
  MCP_OAUTH2: oauthFields,
  OAUTH2_CC: {
    token: true,
    client_id: true,
    client_secret: true,
    client_certificate: false,
    client_private_key: false,
    expires_at: false,
  },
  BASIC: { username: true, password: false },
  API_KEY: { apiKey: true },
  APP_STORE: { privateKeyId: true, issuerId: true, privateKey: true, scope: false },
  APP: { app_id: true, installation_id: true },
  CUSTOM: { app_id: true, installation_id: true },
  NONE: {},
  TBA: { token_id: true, token_secret: true, config_override: false },
  BILL: { username: true, password: true, organization_id: true, dev_key: true },
  SIGNATURE: { username: true, password: true },
  JWT: null,
  TWO_STEP: null,
  AWS_SIGV4: null,
};

/** Fields of integrations with a client of their own. */
const clientFields = [
  'client_id',
  'client_secret',
  'scopes',
  'webhook_secret',
  'app_id',
  'app_link',
  'private_key',
];

/** What a gateway shows in place of a secret. */
const maskedText =
  /\*{3}|•{3}|^x{4,64}$|^(redacted|masked)$|^[[(<](redacted|masked|hidden|removed|secret)[\])>]$/i;

const isMasked = (value: Json | undefined): boolean =>
  typeof value === 'string' && maskedText.test(value);

/** The mode and the fields under our names. */
function translated(
  mapping: Mapping,
  credentials: JsonObject,
): { type: string; fields: JsonObject } {
  const theirs = textAt(credentials, 'type') ?? '';
  const rule = mapping.auth_modes?.[theirs];
  const own = rule?.fields === undefined ? {} : mappedFields(rule.fields, credentials);
  return { type: rule?.mode ?? theirs, fields: { ...credentials, ...own } };
}

/** The modes of the credentials of each integration and of its connections. */
export function modesAtSource(
  mapping: Mapping,
  { integrations, connections }: SourceData['entries'],
): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  const add = (key: Json | undefined, entry: JsonObject): void => {
    const { type } = translated(mapping, objectOf(entry['credentials']));
    if (typeof key !== 'string' || type === '') return;
    found.set(key, (found.get(key) ?? new Set()).add(type));
  };
  for (const entry of integrations) add(entry['unique_key'], entry);
  for (const entry of connections) add(entry['provider_config_key'], entry);
  return found;
}

/** Other names of a field of the catalog. */
export const aliasesOf = (field: Json | undefined): readonly string[] => {
  const { aliases } = objectOf(field);
  return Array.isArray(aliases) ? aliases.filter((one) => typeof one === 'string') : [];
};

/** The name of the field under which the source has a value. */
const aliasIn = (field: Json | undefined, values: JsonObject): string | undefined =>
  aliasesOf(field).find((name) => typeof values[name] === 'string' && values[name] !== '');

/**
 * The connection with credentials of the provider's mode, where its credential fields have other names for those of the
 * mode at the source (docs/reference/provider-format.md#field-schemas): the password there may be the key here. A value of
 * `connection_config` that is a credential here is no longer part of it.
 */
export function inModeOf(
  { auth_mode: mode, credentials, connection_config: declared }: CatalogProvider,
  mapping: Mapping,
  entry: JsonObject,
): JsonObject {
  const { type, fields } = translated(mapping, objectOf(entry['credentials']));
  if (type === mode || type === '') return entry;
  const config = objectOf(entry['connection_config']);
  const found = Object.entries(objectOf(credentials)).flatMap(([name, field]) => {
    const alias = aliasIn(field, { ...config, ...fields });
    return alias === undefined
      ? []
      : [{ name, alias, value: fields[alias] ?? config[alias] ?? '' }];
  });
  if (found.length === 0) return entry;
  const taken = new Set(found.map(({ alias }) => alias));
  const kept = Object.entries(config).filter(([name]) => !taken.has(name));
  const filled = Object.entries(objectOf(declared)).flatMap(([name, field]) => {
    const alias = config[name] === undefined ? aliasIn(field, fields) : undefined;
    return alias === undefined ? [] : [[name, fields[alias] ?? null] as const];
  });
  return {
    ...entry,
    credentials: { type: mode, ...Object.fromEntries(found.map((one) => [one.name, one.value])) },
    connection_config: { ...Object.fromEntries(kept), ...Object.fromEntries(filled) },
  };
}

/**
 * The credentials of an integration as `POST /integrations` takes them; null where it has none.
 * @throws CannotCome
 */
export function integrationCredentials(
  mapping: Mapping,
  { auth_mode: mode }: CatalogProvider,
  entry: JsonObject,
): JsonObject | null {
  if (!isJsonObject(entry['credentials'])) return null;
  const { fields } = translated(mapping, entry['credentials']);
  const sent = Object.fromEntries(
    clientFields.flatMap((name) => {
      const value = fields[name];
      // Keys are stored without white space around them.
      return typeof value === 'string' && value !== '' ? [[name, value.trim()]] : [];
    }),
  );
  const masked = Object.keys(sent).find((name) => isMasked(sent[name]));
  if (masked !== undefined) {
    throw new CannotCome('masked_secret', `Its ${masked} is masked: pass it with --secrets.`);
  }
  return Object.keys(sent).length === 0 ? null : { type: mode, ...sent };
}

export interface ConnectionCredentials {
  readonly credentials: JsonObject;
  readonly warnings: readonly Pick<Problem, 'code' | 'message'>[];
}

/**
 * The credentials of a connection as `POST /connections` takes them.
 * @throws CannotCome
 */
export function connectionCredentials(
  mapping: Mapping,
  provider: CatalogProvider,
  entry: JsonObject,
  now: number,
): ConnectionCredentials {
  const { auth_mode: mode } = provider;
  if (mode === 'NONE') return { credentials: { type: mode }, warnings: [] };
  const config = objectOf(entry['connection_config']);
  if (config['pending'] === true) {
    throw new CannotCome('not_finished', 'Its app is not installed yet.');
  }
  const { type, fields } = translated(mapping, objectOf(entry['credentials']));
  if (type === '' && Object.keys(fields).length === 0) {
    const message = 'It has none: the key of the source needs a scope that reads credentials.';
    throw new CannotCome('missing_credentials', message);
  }
  if (type !== mode) {
    const message = `They are ${type === '' ? 'of no mode' : type}; the provider needs ${mode} here.`;
    throw new CannotCome('auth_mode', message);
  }
  const wanted = fieldsOf(mode) ?? ownFields(provider);
  const isApp = mode === 'APP' || mode === 'CUSTOM';
  const values: JsonObject = isApp ? { ...config, ...fields } : requestFields(fields);
  const sent = Object.fromEntries(
    Object.keys(wanted).flatMap((name) => {
      const value = values[name];
      return value === undefined || value === null ? [] : [[name, value]];
    }),
  );
  refuseIncomplete(wanted, sent);
  return { credentials: { type: mode, ...sent }, warnings: warningsOf(mode, sent, now, fields) };
}

const fieldsOf = (mode: string): CredentialFields | null =>
  new Map<string, CredentialFields | null>(Object.entries(fieldsByMode)).get(mode) ?? null;

function ownFields({ credentials }: CatalogProvider): Record<string, boolean> {
  return Object.fromEntries(
    Object.entries(objectOf(credentials)).map(([name, field]) => {
      const { optional, automated, visible_when: condition } = objectOf(field);
      return [name, optional !== true && automated !== true && condition === undefined];
    }),
  );
}

/** The names of a request in place of those of a response. */
const requestFields = (fields: JsonObject): JsonObject => ({
  privateKeyId: fields['private_key_id'] ?? null,
  issuerId: fields['issuer_id'] ?? null,
  privateKey: fields['private_key'] ?? null,
  ...fields,
});

function refuseIncomplete(wanted: Readonly<Record<string, boolean>>, sent: JsonObject): void {
  const masked = Object.keys(sent).find((name) => isMasked(sent[name]));
  if (masked !== undefined) throw new CannotCome('masked_secret', `Its ${masked} is masked.`);
  const missing = Object.keys(wanted).filter(
    (name) => wanted[name] === true && (sent[name] === undefined || sent[name] === ''),
  );
  if (missing.length > 0) {
    throw new CannotCome('missing_credentials', `They have no ${missing.join(', ')}.`);
  }
}

function warningsOf(
  mode: string,
  sent: JsonObject,
  now: number,
  fields: JsonObject,
): ConnectionCredentials['warnings'] {
  if (mode === 'CUSTOM' && isJsonObject(fields['user'])) {
    const message = 'The token of its user cannot come: the person connects again for it.';
    return [{ code: 'partly', message }];
  }
  if (!holdsOauthToken(mode) || textAt(sent, 'refresh_token') !== null) return [];
  const end = expiryOf(sent);
  if (end === null) return [];
  const until = new Date(end).toISOString();
  if (end <= now) {
    throw new CannotCome('expired', `It ended at ${until}, and there is no refresh token.`);
  }
  return [{ code: 'no_refresh_token', message: `It ends at ${until}.` }];
}

/** Of an OAuth 2 token: ISO text, epoch seconds or milliseconds. */
export function expiryOf(credentials: JsonObject): number | null {
  const { expires_at: end } = credentials;
  const at =
    typeof end === 'number'
      ? end < 1e11
        ? end * 1000
        : end
      : Date.parse(typeof end === 'string' ? end : '');
  return end === undefined || Math.abs(at) > 8.64e15 || Number.isNaN(at) ? null : at;
}

const holdsOauthToken = (mode: string): boolean => fieldsOf(mode) === oauthFields;

/** Fields that a renewal changes: another value is no change by a person. */
function renewedFields(mode: string): readonly string[] {
  if (holdsOauthToken(mode)) return ['access_token', 'refresh_token', 'expires_at'];
  return mode === 'OAUTH2_CC' ? ['token', 'expires_at'] : [];
}

/**
 * Whether the source has other credentials than the connection here. A token that was renewed here is newer than that
 * of the source, which then is not stored over it.
 */
export function areNewer(sent: JsonObject, shown: JsonObject): boolean {
  const mode = textAt(sent, 'type') ?? '';
  if (mode === 'NONE' || mode === 'APP' || mode === 'CUSTOM') return false;
  const kept = requestFields(shown);
  const renewed = renewedFields(mode);
  const lasting = Object.keys(sent).filter((name) => !renewed.includes(name));
  const differs = lasting.some((name) => JSON.stringify(sent[name]) !== JSON.stringify(kept[name]));
  if (differs) return true;
  if (!holdsOauthToken(mode) || sent['access_token'] === shown['access_token']) return false;
  const [theirs, own] = [expiryOf(sent), expiryOf(shown)];
  return theirs === null || own === null || theirs > own;
}
