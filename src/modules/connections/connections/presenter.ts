import { z } from 'zod';
import { jsonObject } from '#http/fields.ts';
import { representation } from '#http/representation.ts';
import { timestamp } from '#http/responses.ts';
import { type JsonObject, isJsonObject, type Json } from '#kernel/stable-json.ts';
import type { Instant } from '#kernel/time.ts';
import type { Vault } from '#modules/access/vault/vault.ts';
import { openUrl, urlOfConnection } from '#modules/access/vault/webhook-urls.ts';
import { openConnectionConfig, openCredentials, openMetadata } from '../credentials/sealing.ts';
import { plainRows, plainValues } from './fields.ts';
import type { Connection, EndUser, Credentials } from './state.ts';

const refreshTokenName = /^refresh[ _-]?token$/i;

/**
 * Credentials as a caller may see them (docs/reference/http.md#connections): none without a credentials scope, and
 * no refresh token at any depth unless asked for.
 */
export function publicCredentials(
  credentials: Credentials,
  options: { readonly withCredentials: boolean; readonly withRefreshToken: boolean },
): JsonObject {
  if (!options.withCredentials || credentials.type === 'NONE') return {};
  return options.withRefreshToken ? credentials : withoutRefreshTokens(credentials);
}

/**
 * Which credentials there are, and until when: every other value is `***`. The response of the provider to the
 * authorization (`raw`) is left out.
 */
function maskedCredentials(credentials: Credentials): JsonObject {
  if (credentials.type === 'NONE') return {};
  const { type: _type, expires_at, raw: _raw, ...secrets }: JsonObject = credentials;
  const isSet = ([, value]: readonly [string, Json | undefined]): boolean =>
    value !== null && value !== undefined && value !== '';
  const masked = Object.entries(secrets).filter(isSet);
  return {
    type: credentials.type,
    ...(typeof expires_at === 'string' ? { expires_at } : {}),
    ...Object.fromEntries(masked.map(([name]) => [name, '***'])),
  };
}

/** The object without keys spelled like "refresh token", at any depth. */
function withoutRefreshTokens(value: JsonObject): JsonObject {
  return strip(value) as JsonObject;
}

function strip(value: Json): Json {
  if (Array.isArray(value)) return value.map((item) => strip(item as Json));
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([key]) => !refreshTokenName.test(key));
  return Object.fromEntries(kept.map(([key, item]) => [key, strip(item)]));
}

export interface ConnectionView {
  /** `masked`: which there are. */
  readonly withCredentials: boolean | 'masked';
  readonly withRefreshToken: boolean;
}

/** `2026-02-01T08:00:00.000+00:00`. */
const isoOffset = (at: Instant): string => new Date(at).toISOString().replace('Z', '+00:00');

const endUser = representation<EndUser>()({
  id: z.string().describe('Id of the end user in the application.'),
  display_name: z.string().nullable(),
  email: z.string().nullable(),
  tags: z.record(z.string(), z.string()),
  organization: [
    z
      .strictObject({
        id: z.string().describe('Id of the organization in the application.'),
        display_name: z.string().nullable(),
      })
      .nullable(),
    ({ organization: of }) => of && { id: of.id, display_name: of.displayName },
  ],
});

export const endUserShape = endUser.schema.meta({ id: 'EndUser' });
export const presentEndUser = endUser.of;

const errors = z.array(
  z.strictObject({
    type: z.enum(['auth', 'sync']).describe('Kind of the error.'),
    log_id: z.string(),
    message: z
      .string()
      .optional()
      .describe('What failed, and where in its source; absent where only the log has it.'),
  }),
);

const credentials = jsonObject.meta({
  description: 'By the mode of the provider; empty for a key without a credentials scope.',
});

/** A connection with what the response shows of its sealed values. */
interface OpenedConnection extends Connection {
  readonly opened: {
    readonly metadata: JsonObject;
    readonly config: JsonObject;
    readonly credentials: JsonObject;
    readonly webhookUrl: string | null;
    readonly fetchedAt: Instant;
  };
}

const single = representation<OpenedConnection>()({
  id: z.int().describe('Number of the connection.'),
  connection_id: z.string(),
  provider_config_key: [z.string(), ({ integrationKey }) => integrationKey],
  provider: z.string(),
  errors: errors.describe('Present errors of the connection.'),
  end_user: [
    endUserShape.nullable(),
    (connection) => connection.endUser && presentEndUser(connection.endUser),
  ],
  ...plainRows,
  metadata: [jsonObject, ({ opened }) => opened.metadata],
  connection_config: [jsonObject, ({ opened }) => opened.config],
  webhook_url_override: [z.string().nullable(), ({ opened }) => opened.webhookUrl],
  created_at: [timestamp, ({ createdAt }) => isoOffset(createdAt)],
  updated_at: [timestamp, ({ updatedAt }) => isoOffset(updatedAt)],
  last_fetched_at: [
    timestamp.describe('Time of the last read of the connection (RFC 3339).'),
    ({ opened }) => isoOffset(opened.fetchedAt),
  ],
  credentials: [credentials, ({ opened }) => opened.credentials],
});

/** A single connection (docs/reference/http.md#connections). */
export const connectionShape = single.schema.meta({
  id: 'Connection',
  examples: [
    {
      id: 41,
      connection_id: 'acme-1',
      provider_config_key: 'crm-prod',
      provider: 'crm',
      errors: [],
      end_user: null,
      ...plainValues({ tags: { team: 'x' } }),
      metadata: {},
      connection_config: { subdomain: 'acme' },
      webhook_url_override: null,
      created_at: '2026-02-01T08:00:00.000+00:00',
      updated_at: '2026-02-01T08:00:00.000+00:00',
      last_fetched_at: '2026-02-02T08:00:00.000+00:00',
      credentials: { type: 'API_KEY', apiKey: '…' },
    },
  ],
});

/** The response for a single connection. */
export async function presentConnection(
  vault: Vault,
  connection: Connection,
  view: ConnectionView & { readonly fetchedAt?: Instant },
) {
  const config = await openConnectionConfig(vault, connection);
  return single.of({
    ...connection,
    opened: {
      config: view.withRefreshToken ? config : withoutRefreshTokens(config),
      credentials: await shownCredentials(vault, connection, view),
      metadata: await openMetadata(vault, connection),
      webhookUrl: await openUrl(vault, urlOfConnection(connection), connection.webhookUrlOverride),
      // Creation counts as a fetch, so there is always a time.
      fetchedAt: view.fetchedAt ?? connection.lastFetchedAt ?? connection.createdAt,
    },
  });
}

async function shownCredentials(
  vault: Vault,
  connection: Connection,
  { withCredentials, withRefreshToken }: ConnectionView,
): Promise<JsonObject> {
  if (withCredentials === false) return {};
  const credentials = await openCredentials(vault, connection);
  return withCredentials === 'masked'
    ? maskedCredentials(credentials)
    : publicCredentials(credentials, { withCredentials, withRefreshToken });
}

interface OpenedEntry extends Connection {
  readonly opened: { readonly metadata: JsonObject; readonly credentials?: JsonObject };
}

/** An entry of the list; credentials as stored, without a refresh. */
const entry = representation<OpenedEntry>()({
  id: z.int().describe('Number of the connection.'),
  connection_id: z.string(),
  provider: z.string(),
  provider_config_key: [z.string(), ({ integrationKey }) => integrationKey],
  created: [
    timestamp.describe('Time of the creation (RFC 3339).'),
    ({ createdAt }) => isoOffset(createdAt),
  ],
  metadata: [
    jsonObject.nullable(),
    ({ opened }) => (Object.keys(opened.metadata).length === 0 ? null : opened.metadata),
  ],
  ...plainRows,
  errors: errors.describe('Present errors of the connection.'),
  end_user: [
    endUserShape.optional(),
    (connection) => (connection.endUser === null ? undefined : presentEndUser(connection.endUser)),
  ],
  credentials: [credentials.optional(), ({ opened }) => opened.credentials],
});

export const entriesShape = z.strictObject({
  connections: z
    .array(entry.schema.meta({ id: 'ConnectionEntry' }))
    .describe('The connections of the page.'),
  next_cursor: z.string().nullable(),
});

export async function presentEntry(
  vault: Vault,
  connection: Connection,
  { withCredentials }: { readonly withCredentials: boolean },
) {
  const view = { withCredentials, withRefreshToken: false };
  const metadata = await openMetadata(vault, connection);
  if (!withCredentials) return entry.of({ ...connection, opened: { metadata } });
  const opened = publicCredentials(await openCredentials(vault, connection), view);
  return entry.of({ ...connection, opened: { metadata, credentials: opened } });
}
