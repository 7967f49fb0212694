import { z } from 'zod';
import type { AnyRoute, Caller } from '#http/define-route.ts';
import { connectionId, integrationKey, text, wholeNumber } from '#http/fields.ts';
import { representation } from '#http/representation.ts';
import { data, json, timestamp as shownTimestamp } from '#http/responses.ts';
import { bodyText } from '#kernel/body-text.ts';
import { GatewayError } from '#kernel/errors.ts';
import { isoMicros, isoMicrosOrNull } from '#kernel/time.ts';
import {
  mayListConnections,
  requireConnectionNamed,
} from '#modules/connections/connections/known-connections.ts';
import { requireIntegration } from '#modules/connections/integrations/queries.ts';
import { defineRoute, type WebhooksServices } from '../services.ts';
import { dispositions } from './events.ts';
import type { IncomingWebhook } from './incoming-store.ts';
import { storedWebhook } from './messages.ts';
import { processWebhook } from './process.ts';
import { receiverOf, type Receiver } from './receiver.ts';

/** A webhook of a provider, without its body. */
const webhook = representation<IncomingWebhook>()({
  id: z.uuid().describe('Id of the webhook.'),
  provider_config_key: [z.string(), ({ integration }) => integration],
  disposition: z.enum(dispositions).describe('What became of the webhook.'),
  reason: z.string().nullable().describe('Code of the reason for a rejection; null without one.'),
  status: z.int().nullable().describe('Status of the answer to the provider; null before it.'),
  type: z.string().nullable().describe('Type of the event; null where the request names none.'),
  provider_delivery_id: z
    .string()
    .nullable()
    .describe('Id that repeats of the provider share; null without one.'),
  connection_ids: [
    z.array(z.string()).describe('Ids of the connections that it is about.'),
    ({ connections }) => connections,
  ],
  run_ids: z.array(z.string()).describe('Ids of the runs that it started.'),
  headers: z.record(z.string(), z.string()),
  refused_count: z.int().nullable().meta({
    description:
      'Of `refused`, which is no single webhook: number of unverified webhooks that were not kept in the hour, as of its first, 10th, 100th and so on.',
  }),
  received_at: [
    shownTimestamp.describe('Time of the request (RFC 3339).'),
    ({ receivedAt }) => isoMicros(receivedAt),
  ],
  decided_at: [
    shownTimestamp.nullable().describe('Time of the decision (RFC 3339); null before it.'),
    ({ decidedAt }) => isoMicrosOrNull(decidedAt),
  ],
});

const presentIncoming = webhook.of;

const incoming = webhook.schema.meta({ id: 'WebhookDelivery' });

const incomingShape = data(incoming);
const incomingsShape = z.strictObject({
  data: z.array(incoming),
  next_cursor: z.string().nullable(),
});
const incomingWithBodyShape = data(
  webhook.schema.extend({
    body: z.string().nullable().describe('The body as text; null if it is not stored.'),
  }),
);

const scopes = { read: ['environment:webhooks:read'], write: ['environment:webhooks:resend'] };
const pageSizeDefault = 100;
const path = z.strictObject({ id: z.uuid().describe('Id of the webhook.') });
const timestamp = z.iso.datetime({ offset: true }).transform((value) => Date.parse(value) * 1000);

/** With the connections that the caller may list, or has named. */
const knownTo = (caller: Caller, webhook: IncomingWebhook, named?: string): IncomingWebhook =>
  mayListConnections(caller)
    ? webhook
    : { ...webhook, connections: webhook.connections.filter((id) => id === named) };

const list = defineRoute({
  method: 'GET',
  path: '/webhook-deliveries',
  credential: 'environment',
  scopes: scopes.read,
  summary: 'List webhooks of providers, newest first.',
  description: 'Rejected ones, too.',
  query: z.strictObject({
    disposition: z.enum(dispositions).optional().describe('Only webhooks with this disposition.'),
    provider_config_key: integrationKey.optional().describe('Only webhooks of this integration.'),
    connection_id: connectionId.optional().describe('Only webhooks of this connection.'),
    since: timestamp.optional(),
    until: timestamp.optional(),
    cursor: text(1, 512).optional(),
    limit: wholeNumber(1, 1000).default(pageSizeDefault),
  }),
  answers: { 200: json('A page.', incomingsShape) },
  errors: ['invalid_cursor_value'],
  async handle({ query, caller, services: { incoming } }) {
    const { cursor, limit, disposition, since, until } = query;
    requireConnectionNamed(caller, query.connection_id);
    const filter = {
      disposition,
      since,
      until,
      integration: query.provider_config_key,
      connectionId: query.connection_id,
    };
    const before = cursor === undefined ? undefined : webhookPositionOf(cursor);
    await incoming.caughtUp();
    const page = { before, limit: limit + 1 };
    const found = incoming.tables.list(caller.environmentUid, filter, page);
    const shown = found.slice(0, limit);
    const last = found.length > limit ? shown.at(-1) : undefined;
    const next = last === undefined ? null : cursorOf(last);
    return {
      status: 200,
      body: {
        data: shown.map((one) => presentIncoming(knownTo(caller, one, query.connection_id))),
        next_cursor: next,
      },
    };
  },
});

const cursorShape = z.tuple([z.number(), z.string()]);

const cursorOf = ({ receivedAt, id }: IncomingWebhook): string =>
  Buffer.from(JSON.stringify([receivedAt, id])).toString('base64url');

function webhookPositionOf(cursor: string) {
  try {
    const decoded: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    const [receivedAt, id] = cursorShape.parse(decoded);
    return { receivedAt, id };
  } catch (cause) {
    throw new GatewayError('invalid_cursor_value', {}, { cause });
  }
}

const get = defineRoute({
  method: 'GET',
  path: '/webhook-deliveries/{id}',
  credential: 'environment',
  scopes: scopes.read,
  summary: 'Get a webhook of a provider.',
  params: path,
  answers: { 200: json('The webhook.', incomingWithBodyShape) },
  errors: ['not_found'],
  async handle({ params, caller, services }) {
    const webhook = await requireIncoming(services, caller.environmentUid, params.id);
    const kept = await storedWebhook(services, webhook);
    const request = kept?.request;
    const text =
      request === undefined ? null : bodyText(request.bytes, request.headers['content-type']);
    const body = { ...presentIncoming(knownTo(caller, webhook)), body: text };
    return { status: 200, body: { data: body }, headers: { 'cache-control': 'no-store' } };
  },
});

const process = defineRoute({
  method: 'POST',
  path: '/webhook-deliveries/{id}/process',
  credential: 'environment',
  scopes: scopes.write,
  summary: 'Process a webhook of a provider again.',
  description: 'It is verified and routed once more, after the cause of its rejection was fixed.',
  params: path,
  answers: {
    200: json('The webhook as it is now; it may have been rejected again.', incomingShape),
  },
  errors: ['not_found', 'webhook_unknown_provider'],
  async handle({ params, caller, services }) {
    const webhook = await requireIncoming(services, caller.environmentUid, params.id);
    const receiver = await requireReceiver(services, webhook);
    const kept = await storedWebhook(services, webhook);
    if (kept === null) {
      const message = `The body of the webhook ${webhook.id} was not stored, so that it cannot be processed.`;
      throw new GatewayError('not_found', { message });
    }
    try {
      await processWebhook(services, receiver, kept, true);
    } catch (error) {
      // The response shows the new reason from the log.
      if (!(error instanceof GatewayError) || error.status >= 500) throw error;
    }
    const now = await requireIncoming(services, caller.environmentUid, params.id);
    return { status: 200, body: { data: presentIncoming(knownTo(caller, now)) } };
  },
});

/** @throws GatewayError `not_found`, `webhook_unknown_provider` */
async function requireReceiver(
  services: WebhooksServices,
  { environmentUid, integration: integrationKey }: IncomingWebhook,
): Promise<Receiver> {
  const { control } = services;
  const { provider } = await requireIntegration(control, environmentUid, integrationKey);
  const receiver = await receiverOf(services, { environmentUid, integrationKey });
  if (receiver !== null) return receiver;
  const message = `Webhooks of the provider "${provider}" are not processed.`;
  throw new GatewayError('not_found', { message });
}

/** @throws GatewayError `not_found` */
async function requireIncoming(
  { incoming }: WebhooksServices,
  environmentUid: string,
  id: string,
): Promise<IncomingWebhook> {
  await incoming.caughtUp();
  const found = incoming.tables.get(environmentUid, id);
  if (found !== null) return found;
  throw new GatewayError('not_found', {
    message: `No webhook ${id} was received in the last 14 days.`,
  });
}

export const webhookDeliveryRoutes: readonly AnyRoute[] = [list, get, process];
