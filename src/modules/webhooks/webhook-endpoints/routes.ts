import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { ControlPlane } from '#control-plane/control-plane.ts';
import type { AnyRoute } from '#http/define-route.ts';
import { connectionId, integrationKey, retryWaits, text, webAddress } from '#http/fields.ts';
import { askOptions, repeatableOptions } from '#http/options.ts';
import { representation } from '#http/representation.ts';
import { json, succeeded, data, timestamp } from '#http/responses.ts';
import { GatewayError } from '#kernel/errors.ts';
import { uuidV5 } from '#kernel/ids.ts';
import { limits } from '#kernel/limits.ts';
import { present } from '#kernel/present.ts';
import { dayMs, isoMillis, isoMillisOrNull } from '#kernel/time.ts';
import { environmentRef } from '#modules/access/environments/entity.ts';
import type { Environment } from '#modules/access/environments/environment.ts';
import { openUrl, urlOfEndpoint, urlOfEnvironment } from '#modules/access/vault/webhook-urls.ts';
import { defineRoute, type WebhooksServices } from '../services.ts';
import { webhookKinds } from '../webhooks-out/events.ts';
import { deliveriesOf } from '../webhooks-out/outbox.ts';
import { sentShape } from '../webhooks-out/routes.ts';
import {
  certificateShape,
  oauthShape,
  openCertificate,
  openOauth,
  presentCertificate,
  presentOauth,
  shownCertificateShape,
  shownOauthShape,
  type EndpointAuthentication,
} from './authentication.ts';
import { filterShape } from './filter.ts';
import { createEndpoint, deleteEndpoint, patchEndpoint } from './handlers.ts';
import { headersShape } from './headers.ts';
import { listEndpoints, requireEndpoint } from './queries.ts';
import { disableAfterMsOf, type WebhookEndpoint } from './webhook-endpoint.ts';

/** The addresses that are settings of the environment itself. */
const ownAddresses = ['primary', 'secondary'] as const;

/** @throws GatewayError `not_found` when the environment has no such address */
function requireOwnAddress(
  { control }: { readonly control: ControlPlane },
  environmentUid: string,
  name: (typeof ownAddresses)[number],
): void {
  const environment = control.view.find(environmentRef(environmentUid));
  if (environment !== null && environment.webhookUrls[name] !== null) return;
  const message = `The environment has no ${name} webhook address.`;
  throw new GatewayError('not_found', { message });
}

type SealedField = 'url' | 'headers' | keyof EndpointAuthentication;

/** Its address, client and certificate are in clear. */
type EndpointShown = Omit<WebhookEndpoint, 'environmentUid' | SealedField> & {
  readonly url: string;
  readonly authentication: EndpointAuthentication;
  readonly managedBy: 'environment' | 'endpoint';
  readonly filtered: number;
};

const shown = representation<EndpointShown>()({
  id: z
    .string()
    .describe('Id of the endpoint; `primary` and `secondary` are those of the environment.'),
  display_name: z.string(),
  url: z.string().describe('Address to which webhooks are sent.'),
  kinds: z
    .array(z.enum(webhookKinds))
    .nullable()
    .describe('Kinds of webhook that it receives; null: all of them.'),
  provider_config_key: [
    z.string().nullable().describe('Only webhooks of this integration; null: of all.'),
    ({ integrationKey }) => integrationKey,
  ],
  connection_id: z.string().nullable().describe('Only webhooks of this connection; null: of all.'),
  enabled: [z.boolean().describe('Whether webhooks are sent to it.'), ({ isEnabled }) => isEnabled],
  header_names: [
    z.array(z.string()).describe('Names of its own headers; their values are not shown.'),
    ({ headerNames }) => headerNames ?? [],
  ],
  oauth: [
    shownOauthShape
      .nullable()
      .describe('The OAuth 2.0 client that gets tokens for its webhooks; null: none.'),
    ({ authentication: { oauth } }) => oauth && presentOauth(oauth),
  ],
  client_certificate: [
    shownCertificateShape
      .nullable()
      .describe('The certificate of the service at the endpoint (mutual TLS); null: none.'),
    ({ authentication: { clientCertificate } }) =>
      clientCertificate && presentCertificate(clientCertificate),
  ],
  retry_waits_seconds: [
    z
      .array(z.number())
      .nullable()
      .describe('Waits before its second, third, … attempt; null: those of the environment.'),
    ({ retryWaitsMs: waits }) => waits?.map((ms) => ms / 1000) ?? null,
  ],
  filter: [
    filterShape.nullable().describe('Only webhooks with this content; null: with any.'),
    ({ filter }) => filter ?? null,
  ],
  ordered: [
    z
      .boolean()
      .describe('Whether each webhook of a connection waits until the one before is finished.'),
    ({ isOrdered = false }) => isOrdered,
  ],
  filtered: z
    .int()
    .describe('Webhooks of the last 30 days that its filter kept back: `state` `filtered`.'),
  disable_after_days: [
    z.int().nullable().describe('After how many days of failures it is disabled; null: never.'),
    (endpoint) => {
      const ms = endpoint.managedBy === 'environment' ? null : disableAfterMsOf(endpoint);
      return ms === null ? null : ms / dayMs;
    },
  ],
  failing_since: [
    timestamp
      .nullable()
      .describe('Since when all of its webhooks fail (RFC 3339); null: the last one succeeded.'),
    ({ failing }) => isoMillisOrNull(failing?.since ?? null),
  ],
  failures: [
    z.int().describe('Attempts since then that are known to have failed.'),
    ({ failing }) => failing?.failures ?? 0,
  ],
  disabled_at: [
    timestamp
      .nullable()
      .describe(
        'When failures disabled it (RFC 3339); null: it is enabled, or was disabled by hand.',
      ),
    ({ disabledAt }) => isoMillisOrNull(disabledAt ?? null),
  ],
  managed_by: z
    .enum(['environment', 'endpoint'])
    .describe('Whether the settings of the environment or this API manage it.'),
  created_at: [timestamp, ({ createdAt }) => isoMillis(createdAt)],
  updated_at: [timestamp, ({ updatedAt }) => isoMillis(updatedAt)],
});

const presentEndpoint = shown.of;
const endpointShape = shown.schema.meta({ id: 'WebhookEndpoint' });

const oneEndpointShape = data(endpointShape);
const endpointsShape = data(z.array(endpointShape));

const scopes = {
  read: ['environment:webhook_endpoints:read'],
  write: ['environment:webhook_endpoints:write'],
};
const path = z.strictObject({ id: z.uuid().describe('Id of the endpoint.') });
const kinds = z
  .array(z.enum(webhookKinds))
  .min(1)
  .max(webhookKinds.length)
  .nullable()
  .transform((input) => (input === null ? null : [...new Set(input)]));

const settings = {
  url: webAddress.describe('Address to which webhooks are sent.'),
  display_name: text(0, 255),
  kinds: kinds.describe('Kinds of webhook to send; null: all of them.'),
  provider_config_key: integrationKey
    .nullable()
    .describe('Only webhooks of this integration; null: of all.'),
  connection_id: connectionId
    .nullable()
    .describe('Only webhooks of this connection; null: of all.'),
  enabled: z.boolean().describe('Whether webhooks are sent to it.'),
  headers: headersShape
    .describe('Headers of its deliveries, such as `authorization`, all of them; null: none.')
    .meta({ examples: [{ authorization: 'Bearer …' }] }),
  oauth: oauthShape
    .nullable()
    .describe(
      'The OAuth 2.0 client that gets tokens for its webhooks (client credentials), whole; null: none.',
    ),
  client_certificate: certificateShape
    .nullable()
    .describe('The certificate of the service at the endpoint (mutual TLS), whole; null: none.'),
  retry_waits_seconds: retryWaits
    .nullable()
    .describe('Waits before its second, third, … attempt; null: those of the environment.'),
  filter: filterShape
    .nullable()
    .describe('Only webhooks whose body matches; null: all.')
    .meta({
      examples: [
        {
          match: 'all',
          conditions: [{ path: '/responseResults/added', op: 'greater_than', value: 0 }],
        },
      ],
    }),
  ordered: z
    .boolean()
    .describe('Whether each webhook of a connection waits until the one before is finished.'),
  disable_after_days: z
    .int()
    .min(1)
    .max(limits.webhookDisableAfterMaxMs / dayMs)
    .nullable()
    .describe('After how many days of failures it is disabled; null: never; absent: 5.'),
};

const waitsMsOf = (
  seconds: readonly number[] | null | undefined,
): readonly number[] | null | undefined => seconds?.map((wait) => wait * 1000) ?? seconds;

const daysMsOf = (days: number | null | undefined): number | null | undefined =>
  typeof days === 'number' ? days * dayMs : days;

async function presentOpened({ vault, deliveries }: WebhooksServices, endpoint: WebhookEndpoint) {
  const owner = urlOfEndpoint(endpoint.environmentUid, endpoint.id);
  const url = await openUrl(vault, owner, endpoint.url);
  const authentication = {
    oauth: await openOauth(vault, endpoint),
    clientCertificate: await openCertificate(vault, endpoint),
  };
  const filtered = deliveries.tables.countFiltered(endpoint.environmentUid, endpoint.id);
  return presentEndpoint({ ...endpoint, url, authentication, managedBy: 'endpoint', filtered });
}

/** An address of the environment, in the shape of an endpoint. */
async function presentOwn(
  { vault }: WebhooksServices,
  { uid, webhookUrls, createdAt, updatedAt }: Environment,
) {
  const urls = ownAddresses.map((id) => openUrl(vault, urlOfEnvironment(uid, id), webhookUrls[id]));
  const opened = await Promise.all(urls);
  return ownAddresses.flatMap((id, index) => {
    const url = opened[index] ?? null;
    if (url === null) return [];
    const everything = { kinds: null, integrationKey: null, connectionId: null, isEnabled: true };
    const authentication = { oauth: null, clientCertificate: null };
    const own = { ...everything, authentication, managedBy: 'environment', filtered: 0 } as const;
    return [presentEndpoint({ ...own, id, displayName: id, url, createdAt, updatedAt })];
  });
}

const list = defineRoute({
  method: 'GET',
  path: '/webhook-endpoints',
  credential: 'environment',
  scopes: scopes.read,
  summary: 'List the webhook endpoints.',
  description: 'The addresses of the environment first, then the endpoints, oldest first.',
  answers: { 200: json('All of them.', endpointsShape) },
  errors: [],
  async handle({ caller, services }) {
    const { environmentUid } = caller;
    const { control } = services;
    const environment = control.view.find(environmentRef(environmentUid));
    const endpoints = listEndpoints(control, environmentUid);
    const shown = await Promise.all(endpoints.map((endpoint) => presentOpened(services, endpoint)));
    const own = environment === null ? [] : await presentOwn(services, environment);
    return { status: 200, body: { data: [...own, ...shown] } };
  },
});

const create = defineRoute({
  method: 'POST',
  path: '/webhook-endpoints',
  credential: 'environment',
  scopes: scopes.write,
  summary: 'Create a webhook endpoint.',
  description: 'For webhooks of every kind, or of some.',
  body: z.strictObject({
    url: settings.url,
    display_name: settings.display_name.optional(),
    kinds: settings.kinds.optional(),
    provider_config_key: settings.provider_config_key.optional(),
    connection_id: settings.connection_id.optional(),
    enabled: settings.enabled.optional(),
    headers: settings.headers.optional(),
    oauth: settings.oauth.optional(),
    client_certificate: settings.client_certificate.optional(),
    retry_waits_seconds: settings.retry_waits_seconds.optional(),
    filter: settings.filter.optional(),
    ordered: settings.ordered.optional(),
    disable_after_days: settings.disable_after_days.optional(),
  }),
  answers: { 201: json('The endpoint.', oneEndpointShape) },
  errors: ['resource_capped', 'conflict'],
  async handle(input) {
    const { body, caller, services } = input;
    const wanted = {
      url: body.url,
      displayName: body.display_name ?? '',
      kinds: body.kinds ?? null,
      integrationKey: body.provider_config_key ?? null,
      connectionId: body.connection_id ?? null,
      isEnabled: body.enabled ?? true,
      headers: body.headers ?? null,
      oauth: body.oauth ?? null,
      clientCertificate: body.client_certificate ?? null,
      retryWaitsMs: waitsMsOf(body.retry_waits_seconds) ?? null,
      filter: body.filter ?? null,
      isOrdered: body.ordered ?? false,
      ...present({ disableAfterMs: daysMsOf(body.disable_after_days) }),
    };
    const made = await createEndpoint(services, caller.environmentUid, wanted, askOptions(input));
    return { status: 201, body: { data: await presentOpened(services, made) } };
  },
});

const patch = defineRoute({
  method: 'PATCH',
  path: '/webhook-endpoints/{id}',
  credential: 'environment',
  scopes: scopes.write,
  summary: 'Update a webhook endpoint.',
  description: 'Absent fields keep their value; null removes a filter.',
  params: path,
  body: z.strictObject(settings).partial(),
  answers: { 200: json('The endpoint.', oneEndpointShape) },
  errors: ['not_found'],
  async handle(input) {
    const { params, body, caller, services } = input;
    const changes = {
      url: body.url,
      displayName: body.display_name,
      kinds: body.kinds,
      integrationKey: body.provider_config_key,
      connectionId: body.connection_id,
      isEnabled: body.enabled,
      headers: body.headers,
      oauth: body.oauth,
      clientCertificate: body.client_certificate,
      retryWaitsMs: waitsMsOf(body.retry_waits_seconds),
      disableAfterMs: daysMsOf(body.disable_after_days),
      filter: body.filter,
      isOrdered: body.ordered,
    };
    const { environmentUid } = caller;
    const options = askOptions(input);
    const changed = await patchEndpoint(services, environmentUid, params.id, changes, options);
    return { status: 200, body: { data: await presentOpened(services, changed) } };
  },
});

const remove = defineRoute({
  method: 'DELETE',
  path: '/webhook-endpoints/{id}',
  credential: 'environment',
  scopes: scopes.write,
  summary: 'Delete a webhook endpoint.',
  description: 'Webhooks that wait for it are cancelled.',
  params: path,
  answers: succeeded,
  errors: ['not_found'],
  async handle(input) {
    const { params, caller, services } = input;
    const options = repeatableOptions(input);
    await deleteEndpoint(services, caller.environmentUid, params.id, options);
    return { status: 200, body: { success: true } };
  },
});

const testSend = defineRoute({
  method: 'POST',
  path: '/webhook-endpoints/{id}/test',
  credential: 'environment',
  scopes: scopes.write,
  summary: 'Send a test webhook to an endpoint.',
  params: z.strictObject({
    id: z
      .string()
      .refine(
        (id) => ownAddresses.some((name) => name === id) || z.uuid().safeParse(id).success,
        'Send primary, secondary, or the id of an endpoint.',
      )
      .meta({
        description: 'Id of the endpoint, or `primary` or `secondary` of the environment.',
        examples: ['primary'],
      }),
  }),
  answers: { 202: json('Ids of the messages.', sentShape) },
  errors: ['not_found'],
  async handle({ params: { id }, caller, services, idempotency }) {
    const { environmentUid: uid, actor } = caller;
    const { control, clock, publisher } = services;
    const own = ownAddresses.find((name) => name === id);
    if (own === undefined) await requireEndpoint(control, uid, id);
    else requireOwnAddress(services, uid, own);
    const environment = control.view.find(environmentRef(uid));
    if (environment === null) throw new GatewayError('not_found');
    const once = idempotency?.idempotencyKey ?? randomUUID();
    const messageId = uuidV5(uid, `test/${id}/${once}`);
    const payload = {
      type: 'test',
      from: 'svc',
      environment: environment.name,
      endpointId: id,
      sentAt: isoMillis(clock.now()),
    };
    const connection = { integrationKey: '', connectionId: null, webhookUrlOverride: null };
    const subject = { environment, connection, kind: 'test', endpoints: [id] } as const;
    await publisher.publish(await deliveriesOf(services, subject, [{ messageId, payload }]), actor);
    return { status: 202, body: { data: { message_ids: [messageId] } } };
  },
});

export const webhookEndpointRoutes: readonly AnyRoute[] = [list, create, patch, remove, testSend];
