import { timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { AnyRoute } from '#http/define-route.ts';
import { bodyRefused } from '#http/error-response.ts';
import { jsonObject, text, wholeNumber } from '#http/fields.ts';
import { data, json, timestamp } from '#http/responses.ts';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import { type JsonObject, isJsonObject } from '#kernel/stable-json.ts';
import { isoMillis, type Instant } from '#kernel/time.ts';
import { requireEnvironmentById } from '#modules/access/environments/queries.ts';
import type { Vault, Fingerprints } from '#modules/access/vault/vault.ts';
import { openUrl, urlOfConnection } from '#modules/access/vault/webhook-urls.ts';
import { recipientOf, type Recipient } from '#rules/envelope.ts';
import { cursorOf, positionOf } from '../connections/list-route.ts';
import { endUserShape, presentEntry } from '../connections/presenter.ts';
import { queryConnections } from '../connections/queries.ts';
import type { Connection } from '../connections/state.ts';
import { openConnectionConfig, openCredentials, openMetadata } from '../credentials/sealing.ts';
import { defineRoute } from '../services.ts';

/** The consent of the account to an export of one environment, encrypted to one public key. */
interface ExportGrant {
  readonly environmentUid: string;
  readonly publicKey: JsonObject;
  readonly expiresAt: Instant;
}

const prefix = 'svc_export_';

/** The grant as text that the service recognizes later; it is no secret, and nothing is stored. */
function writeGrant(
  vault: Fingerprints,
  wanted: Pick<ExportGrant, 'environmentUid' | 'publicKey'>,
  now: Instant,
): { readonly text: string; readonly grant: ExportGrant } {
  const grant = { ...wanted, expiresAt: now + limits.exportGrantMs };
  const content = Buffer.from(JSON.stringify(grant)).toString('base64url');
  return { text: `${prefix}${content}.${vault.fingerprint('export-grant', content)}`, grant };
}

/** @throws GatewayError `forbidden` when it was changed, has expired or is of another environment */
function readGrant(
  vault: Fingerprints,
  text: string,
  environmentUid: string,
  now: Instant,
): ExportGrant {
  const [content = '', mac = ''] = text.startsWith(prefix)
    ? text.slice(prefix.length).split('.')
    : [];
  const own = Buffer.from(vault.fingerprint('export-grant', content));
  const sent = Buffer.from(mac);
  const isOurs = own.length === sent.length && timingSafeEqual(own, sent);
  const grant = isOurs
    ? (JSON.parse(Buffer.from(content, 'base64url').toString()) as unknown)
    : null;
  if (isJsonObject(grant) && grant['environmentUid'] === environmentUid) {
    const valid = grant as unknown as ExportGrant;
    if (valid.expiresAt > now) return valid;
  }
  const message = 'The grant is not of this environment, or has expired.';
  const fix = 'Get one with the account key: POST /environments/{environmentId}/exports.';
  throw new GatewayError('forbidden', { message, fix });
}

const noStore = { 'cache-control': 'no-store' };
const limitDefault = 100;
const limitMax = 500;

const grantShape = z.strictObject({
  grant: z
    .string()
    .describe('For `POST /connections/export`; without a key of the environment it is useless.'),
  key_id: z.string().meta({ description: 'JWK thumbprint (RFC 7638) of the public key.' }),
  expires_at: timestamp.describe('When the grant ends.'),
});

const grant = defineRoute({
  method: 'POST',
  path: '/environments/{environmentId}/exports',
  credential: 'account',
  scopes: ['account:environments:export'],
  summary: 'Allow the export of an environment to a public key.',
  description:
    'A key of the environment that reads credentials uses the grant within half an hour: `POST /connections/export`. The grant is audited.',
  params: z.strictObject({ environmentId: wholeNumber(0, Number.MAX_SAFE_INTEGER) }),
  body: z.strictObject({
    public_key: jsonObject.meta({
      description: 'JWK: RSA of 2048 bits or more, P-256, P-384, P-521 or X25519.',
      examples: [{ kty: 'OKP', crv: 'X25519', x: 'hSDwCYkwp1R0i33ctD73Wg2_Og0mOBr066SpjqqbTmo' }],
    }),
  }),
  answers: { 201: json('The grant, for half an hour.', data(grantShape)) },
  errors: ['not_found'],
  async handle({ params, body, services }) {
    const { control, vault, clock } = services;
    const environment = await requireEnvironmentById(control, params.environmentId);
    const { keyId } = await recipient(body.public_key);
    const wanted = { environmentUid: environment.uid, publicKey: body.public_key };
    const { text: written, grant: made } = writeGrant(vault, wanted, clock.now());
    const shown = { grant: written, key_id: keyId, expires_at: isoMillis(made.expiresAt) };
    return { status: 201, body: { data: shown }, headers: noStore };
  },
});

/** @throws GatewayError `invalid_body` */
async function recipient(publicKey: JsonObject): Promise<Recipient> {
  try {
    return await recipientOf(publicKey);
  } catch (error) {
    if (error instanceof RangeError) throw bodyRefused(['public_key'], error.message);
    throw error;
  }
}

const exportedShape = z
  .strictObject({
    connection_id: z.string().describe('Id of the connection.'),
    provider_config_key: z.string().describe('Unique key of the integration.'),
    provider: z.string().describe('Name of the provider.'),
    created_at: timestamp.describe('When the connection was created.'),
    tags: z.record(z.string(), z.string()).describe('Tags of the connection, by lower-case name.'),
    end_user: endUserShape.nullable().describe('Whose account it is; null without one.'),
    sealed: z.string().meta({
      description:
        'Compact JWE of credentials with refresh tokens, connection_config, metadata and webhook_url_override.',
    }),
  })
  .meta({ id: 'ExportedConnection' });

const exportConnections = defineRoute({
  method: 'POST',
  path: '/connections/export',
  credential: 'environment',
  scopes: ['environment:connections:read_credentials'],
  summary: 'Export connections with encrypted credentials.',
  description:
    'Credentials are as stored, with refresh tokens; nothing is refreshed. Each page is audited. See `POST /environments/{environmentId}/exports` for the grant.',
  body: z.strictObject({
    grant: text(1, 16_384).describe('Grant of the account for this environment.'),
    limit: z
      .int()
      .min(1)
      .max(limitMax)
      .optional()
      .describe('Connections of a page; 100 if absent.'),
    cursor: text(1, 512).optional().describe('`next_cursor` of the page before.'),
  }),
  answers: {
    200: json(
      'A page, newest first.',
      z.strictObject({
        connections: z.array(exportedShape).describe('The connections.'),
        next_cursor: z.string().nullable().describe('For the next page; null on the last one.'),
      }),
    ),
  },
  errors: ['invalid_cursor_value'],
  async handle({ body, caller, services }) {
    const { environmentUid } = caller;
    const { publicKey } = readGrant(
      services.vault,
      body.grant,
      environmentUid,
      services.clock.now(),
    );
    const { seal } = await recipientOf(publicKey);
    const { limit = limitDefault, cursor } = body;
    const after = cursor === undefined ? undefined : positionOf(cursor);
    const found = queryConnections(services.control, { environmentUid, limit, after });
    const connections = await Promise.all(
      found.map((connection) => exported(services, seal, connection)),
    );
    const last = found.length === limit ? found.at(-1) : undefined;
    const next_cursor = last === undefined ? null : cursorOf(last);
    return { status: 200, body: { connections, next_cursor }, headers: noStore };
  },
});

async function exported(
  { vault }: { readonly vault: Vault },
  seal: Recipient['seal'],
  connection: Connection,
) {
  const { integrationKey, connectionId } = connection;
  const shown = await presentEntry(vault, connection, { withCredentials: false });
  const url = await openUrl(vault, urlOfConnection(connection), connection.webhookUrlOverride);
  const sealed = await seal(`connections/${integrationKey}/${connectionId}`, {
    credentials: await openCredentials(vault, connection),
    connection_config: await openConnectionConfig(vault, connection),
    metadata: await openMetadata(vault, connection),
    ...(url === null ? {} : { webhook_url_override: url }),
  });
  return {
    connection_id: connectionId,
    provider_config_key: integrationKey,
    provider: connection.provider,
    created_at: shown.created,
    tags: shown.tags,
    end_user: shown.end_user ?? null,
    sealed,
  };
}

export const exportRoutes: readonly AnyRoute[] = [grant, exportConnections];
