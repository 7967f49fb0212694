import { z } from 'zod';
import type { AnyRoute, RouteInput } from '#http/define-route.ts';
import { connectionId, integrationKey, listOf, text, wholeNumber } from '#http/fields.ts';
import { representation } from '#http/representation.ts';
import { json, type Responses, anyJson, data, timestamp } from '#http/responses.ts';
import { deliveryFix } from '#kernel/error-hints.ts';
import { GatewayError } from '#kernel/errors.ts';
import { isoMicrosOrNull, isoMicros } from '#kernel/time.ts';
import {
  mayListConnections,
  requireConnectionNamed,
} from '#modules/connections/connections/known-connections.ts';
import { defineRoute, type WebhooksServices } from '../services.ts';
import {
  deliveryStates,
  type Delivery,
  type DeliveryFilter,
  type Attempt,
} from './delivery-store.ts';
import { webhookKinds } from './events.ts';
import { bodyOf, repeat, replayMatching, type Ordering, type ReplayResult } from './outbox.ts';

const fix = z
  .string()
  .nullable()
  .describe('What to do about the failure, as one sentence; null without one.');

/** One message to one endpoint, without its body. */
const delivery = representation<Delivery>()({
  id: [
    z.string().describe('Id of the webhook message: the header `webhook-id`.'),
    ({ messageId }) => messageId,
  ],
  endpoint_id: z.string(),
  kind: z.string().describe('Kind of the webhook.'),
  state: z.enum(deliveryStates).describe('State of the delivery.'),
  provider_config_key: [
    z.string().nullable().describe('Unique key of the integration; null where none takes part.'),
    ({ integration }) => integration,
  ],
  connection_id: z
    .string()
    .nullable()
    .describe('Id of the connection; null where none takes part.'),
  run_id: z.string().nullable().describe('Id of the run; null where none takes part.'),
  attempts: z.int(),
  status: z.int().nullable().describe('Status of the last HTTP response; null without one.'),
  error_code: z.string().nullable(),
  fix: [fix, deliveryFix],
  next_attempt_at: [timestamp.nullable(), ({ nextAttemptAt }) => isoMicrosOrNull(nextAttemptAt)],
  replay_of: z
    .string()
    .nullable()
    .describe('Id of the message that this one repeats; null otherwise.'),
  created_at: [timestamp, ({ createdAt }) => isoMicros(createdAt)],
  updated_at: [timestamp, ({ changedAt }) => isoMicros(changedAt)],
});

const presentDelivery = delivery.of;

const attempt = representation<Attempt>()({
  attempt: z.int(),
  at: [timestamp, ({ at }) => isoMicros(at)],
  success: [
    z.boolean().describe('Whether the endpoint answered 2xx.'),
    ({ isDelivered }) => isDelivered,
  ],
  status: z.int().nullable().describe('Status of the HTTP response; null without one.'),
  error_code: z.string().nullable(),
  fix: [fix, deliveryFix],
  latency_ms: z
    .int()
    .nullable()
    .describe('Time to the response in milliseconds; null without one.'),
  next_attempt_at: [timestamp.nullable(), ({ nextAttemptAt }) => isoMicrosOrNull(nextAttemptAt)],
});

const presentAttempt = attempt.of;

const messagesShape = z.strictObject({
  data: z.array(delivery.schema.meta({ id: 'WebhookMessage' })),
  next_cursor: z.string().nullable(),
});

const messageShape = data(
  z.strictObject({
    id: z.string().describe('Id of the webhook message.'),
    kind: z.string().nullable().describe('Kind of the webhook; null if its body is gone.'),
    payload: anyJson.describe('Body of the webhook; null if it is gone.'),
    deliveries: z
      .array(
        delivery.schema.extend({
          attempt_list: z.array(attempt.schema).describe('Attempts of the delivery, oldest first.'),
        }),
      )
      .describe('The deliveries, one for each endpoint.'),
  }),
);

export const sentShape = data(z.strictObject({ message_ids: z.array(z.string()) }));

const replayedShape = data(
  z.strictObject({
    dry_run: z.boolean(),
    matched: z.int(),
    replayed: z.int(),
    gone: z.int().describe('Messages that match, but whose body the log no longer has.'),
    message_ids: z.array(z.string()),
    has_more: z.boolean(),
    last_created_at: timestamp
      .nullable()
      .describe('Time of the last processed message (RFC 3339): `since` of the next request.'),
  }),
);

const scopes = { read: ['environment:webhooks:read'], write: ['environment:webhooks:resend'] };
const pageSizeDefault = 100;
const replayLimitDefault = 1_000;
const replayLimitMax = 10_000;

const replayAnswers: Responses = {
  200: json('What would be sent again.', replayedShape),
  202: json('What is sent again.', replayedShape),
};

/** A time, as microseconds since the epoch. */
const timeQuery = z.iso.datetime({ offset: true }).transform((value) => Date.parse(value) * 1000);

const conditions = {
  kind: z.enum(webhookKinds).optional().describe('Only webhooks of this kind.'),
  state: z.enum(deliveryStates).optional().describe('Only deliveries in this state.'),
  endpoint_id: text(1, 64).optional().describe('Only deliveries to this endpoint.'),
  provider_config_key: integrationKey.optional().describe('Only webhooks of this integration.'),
  connection_id: connectionId.optional().describe('Only webhooks of this connection.'),
  since: timeQuery.optional(),
  until: timeQuery.optional(),
};
const conditionsShape = z.strictObject(conditions);
const path = z.strictObject({ id: text(1, 64).describe('Id of the webhook message.') });

function filterOf(input: z.output<typeof conditionsShape>): DeliveryFilter {
  const { kind, state, since, until } = input;
  return {
    kind,
    state,
    since,
    until,
    endpointId: input.endpoint_id,
    integration: input.provider_config_key,
    connectionId: input.connection_id,
  };
}

const list = defineRoute({
  method: 'GET',
  path: '/webhook-messages',
  credential: 'environment',
  scopes: scopes.read,
  summary: 'List webhook messages, newest first.',
  description: 'One entry for each message and endpoint.',
  query: conditionsShape.extend({
    cursor: text(1, 512).optional(),
    limit: wholeNumber(1, 1000).default(pageSizeDefault),
  }),
  answers: { 200: json('A page.', messagesShape) },
  errors: ['invalid_cursor_value'],
  async handle({ query, caller, services: { deliveries } }) {
    const { cursor, limit, ...wanted } = query;
    requireConnectionNamed(caller, query.connection_id);
    const before = cursor === undefined ? undefined : deliveryPositionOf(cursor);
    await deliveries.caughtUp();
    const found = deliveries.tables.list(caller.environmentUid, filterOf(wanted), {
      before,
      limit: limit + 1,
    });
    const page = found.slice(0, limit);
    const last = found.length > limit ? page.at(-1) : undefined;
    const next = last === undefined ? null : cursorOf(last);
    return { status: 200, body: { data: page.map(presentDelivery), next_cursor: next } };
  },
});

const cursorShape = z.tuple([z.number(), z.string(), z.string()]);

const cursorOf = ({ createdAt, messageId, endpointId }: Delivery): string =>
  Buffer.from(JSON.stringify([createdAt, messageId, endpointId])).toString('base64url');

function deliveryPositionOf(cursor: string) {
  try {
    const decoded: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    const [createdAt, messageId, endpointId] = cursorShape.parse(decoded);
    return { createdAt, messageId, endpointId };
  } catch (cause) {
    throw new GatewayError('invalid_cursor_value', {}, { cause });
  }
}

const get = defineRoute({
  method: 'GET',
  path: '/webhook-messages/{id}',
  credential: 'environment',
  scopes: scopes.read,
  summary: 'Get a webhook message.',
  description: 'With its body, and its attempts at each endpoint.',
  params: path,
  answers: { 200: json('The webhook.', messageShape) },
  errors: ['not_found'],
  async handle({ params, caller, services }) {
    const { deliveries } = services;
    const found = await requireMessage(services, caller.environmentUid, params.id);
    const [first] = found;
    const namesConnections = mayListConnections(caller);
    const shown = found.map((delivery) => {
      const attempts = deliveries.tables.attemptsOf(delivery).map(presentAttempt);
      const { connectionId: named } = delivery;
      const known = { ...delivery, connectionId: namesConnections ? named : null };
      return { ...presentDelivery(known), attempt_list: attempts };
    });
    const payload = first === undefined || !namesConnections ? null : await bodyOf(services, first);
    const body = { id: params.id, kind: first?.kind ?? null, payload, deliveries: shown };
    return { status: 200, body: { data: body }, headers: { 'cache-control': 'no-store' } };
  },
});

const resend = defineRoute({
  method: 'POST',
  path: '/webhook-messages/{id}/resend',
  credential: 'environment',
  scopes: scopes.write,
  summary: 'Resend a webhook message.',
  description:
    'To all endpoints that it went to, or to one of them, whose filter may have kept it back.',
  params: path,
  body: z.strictObject({
    endpoint_id: text(1, 64)
      .optional()
      .describe('Only to this endpoint; absent: to all that it went to.'),
  }),
  answers: { 202: json('Ids of the new messages.', sentShape) },
  errors: ['not_found'],
  async handle(input) {
    const { params, body, caller, services } = input;
    const existing = await requireMessage(services, caller.environmentUid, params.id);
    const wanted = existing.filter(
      ({ messageId, endpointId, state }) =>
        messageId === params.id &&
        (body.endpoint_id === undefined ? state !== 'filtered' : body.endpoint_id === endpointId),
    );
    if (wanted.length === 0) {
      const message =
        body.endpoint_id === undefined
          ? `Filters kept the webhook ${params.id} back from all of its endpoints; name one as endpoint_id.`
          : `The webhook ${params.id} did not go to the endpoint "${body.endpoint_id}".`;
      throw new GatewayError('not_found', { message });
    }
    const { ids } = await repeat(services, wanted, orderingOf(input));
    return { status: 202, body: { data: { message_ids: ids } } };
  },
});

const orders = {
  dry_run: z.boolean().optional(),
  limit: z.number().int().min(1).max(replayLimitMax).optional(),
};

const recover = defineRoute({
  method: 'POST',
  path: '/webhook-messages/recover',
  credential: 'environment',
  scopes: scopes.write,
  summary: 'Resend failed webhook messages.',
  description:
    'Those that failed since a time and were not recovered yet; repeat with `last_created_at` while `has_more`.',
  body: z.strictObject({
    since: timeQuery.describe('Only webhooks created from this time on (RFC 3339).'),
    endpoint_id: text(1, 64).optional().describe('Only deliveries to this endpoint.'),
    ...orders,
  }),
  answers: replayAnswers,
  errors: [],
  async handle(input) {
    const { since, endpoint_id: endpointId } = input.body;
    const filter = { since, endpointId, state: 'failed', isOpen: true } as const;
    return answerReplay(input, filter);
  },
});

const replay = defineRoute({
  method: 'POST',
  path: '/webhook-messages/replay',
  credential: 'environment',
  scopes: scopes.write,
  summary: 'Replay webhook messages.',
  description: 'Those with the `ids`, or those that match the filter from a time on.',
  body: z
    .strictObject({
      ids: listOf(text(1, 64))
        .optional()
        .describe('Ids of the webhook messages, in place of a filter.'),
      ...conditions,
      ...orders,
    })
    .refine(({ ids, since }) => ids !== undefined || since !== undefined, {
      message: 'Send ids or since.',
      path: ['since'],
    }),
  answers: replayAnswers,
  errors: [],
  async handle(input) {
    const { ids, dry_run: _dryRun, limit: _limit, ...wanted } = input.body;
    // What a filter kept back is sent only to those who ask for it.
    const filter = { ...filterOf(wanted), isWanted: wanted.state !== 'filtered' };
    return answerReplay(
      input,
      ids === undefined ? { ...filter, isFirst: true } : { ...filter, ids },
    );
  },
});

async function answerReplay(
  input: ReplayRequest & {
    readonly body: { readonly dry_run?: boolean | undefined; readonly limit?: number | undefined };
  },
  filter: DeliveryFilter,
) {
  const { body, caller, services } = input;
  const { dry_run: isDryRun = false, limit = replayLimitDefault } = body;
  const options = { ...orderingOf(input), isDryRun, limit };
  const done = await replayMatching(services, caller.environmentUid, filter, options);
  return { status: isDryRun ? 200 : 202, body: { data: presentReplayed(done, isDryRun) } };
}

const presentReplayed = (done: ReplayResult, isDryRun: boolean) => ({
  dry_run: isDryRun,
  matched: done.matched,
  replayed: done.replayed,
  gone: done.gone,
  message_ids: done.messageIds,
  has_more: done.hasMore,
  last_created_at: isoMicrosOrNull(done.lastCreatedAt),
});

type ReplayRequest = Pick<
  RouteInput<undefined, undefined, undefined, undefined, WebhooksServices>,
  'caller' | 'services' | 'idempotency'
>;

const orderingOf = ({ caller, idempotency }: ReplayRequest): Ordering => ({
  actor: caller.actor,
  ...(idempotency === undefined ? {} : { idempotency }),
});

/**
 * The message at each endpoint, then its replays.
 * @throws GatewayError `not_found`
 */
async function requireMessage(
  { deliveries }: ReplayRequest['services'],
  environmentUid: string,
  id: string,
): Promise<Delivery[]> {
  await deliveries.caughtUp();
  const found = deliveries.tables.ofMessage(environmentUid, id);
  if (found.length > 0) return found;
  throw new GatewayError('not_found', { message: `No webhook ${id} of the last 30 days.` });
}

export const webhookMessageRoutes: readonly AnyRoute[] = [list, get, resend, recover, replay];
