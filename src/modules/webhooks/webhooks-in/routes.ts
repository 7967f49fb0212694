import { z } from 'zod';
import type { AnyRoute } from '#http/define-route.ts';
import { connectionId, integrationKey, text, wholeNumber } from '#http/fields.ts';
import { json } from '#http/responses.ts';
import { bodyText } from '#kernel/body-text.ts';
import { GatewayError } from '#kernel/errors.ts';
import { defineRoute, type WebhooksServices } from '../services.ts';
import type { IncomingWebhook } from './incoming-store.ts';
import {
  presentIncoming,
  dispositions,
  incomingShape,
  incomingsShape,
  incomingWithBodyShape,
} from './presenter.ts';
import { stored, processWebhook } from './process.ts';
import { receiverOf } from './receiver.ts';

const scopes = ['environment:*'];
const pageSizeDefault = 100;
const path = z.strictObject({ id: z.uuid().describe('Id of the webhook.') });
const timestamp = z.iso.datetime({ offset: true }).transform((value) => Date.parse(value) * 1000);

const list = defineRoute({
  method: 'GET',
  path: '/webhook-deliveries',
  credential: 'environment',
  scopes,
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
    return { status: 200, body: { data: shown.map(presentIncoming), next_cursor: next } };
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
  scopes,
  summary: 'Get a webhook of a provider.',
  params: path,
  answers: { 200: json('The webhook.', incomingWithBodyShape) },
  errors: ['not_found'],
  async handle({ params, caller, services }) {
    const webhook = await requireIncoming(services, caller.environmentUid, params.id);
    const kept = await stored(services, webhook);
    const request = kept?.request;
    const text =
      request === undefined ? null : bodyText(request.bytes, request.headers['content-type']);
    const body = { ...presentIncoming(webhook), body: text };
    return { status: 200, body: { data: body }, headers: { 'cache-control': 'no-store' } };
  },
});

const process = defineRoute({
  method: 'POST',
  path: '/webhook-deliveries/{id}/process',
  credential: 'environment',
  scopes,
  summary: 'Process a webhook of a provider again.',
  description: 'It is verified and routed once more, after the cause of its rejection was fixed.',
  params: path,
  answers: {
    200: json('The webhook as it is now; it may have been rejected again.', incomingShape),
  },
  errors: ['not_found', 'webhook_unknown_provider'],
  async handle({ params, caller, services }) {
    const webhook = await requireIncoming(services, caller.environmentUid, params.id);
    const receiver = await receiverOf(services, caller.environmentUid, webhook.integration);
    const kept = await stored(services, webhook);
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
    return { status: 200, body: { data: presentIncoming(now) } };
  },
});

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
