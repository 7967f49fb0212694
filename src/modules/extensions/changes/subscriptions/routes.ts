import { z } from 'zod';
import type { AnyRoute } from '#http/define-route.ts';
import { functionName, subscriptionName, text } from '#http/fields.ts';
import { askOptions, repeatableOptions } from '#http/options.ts';
import { representation } from '#http/representation.ts';
import { data, json, succeeded, timestamp } from '#http/responses.ts';
import { isoMillis, isoMillisOrNull } from '#kernel/time.ts';
import { requireConnectionNamed } from '#modules/connections/connections/known-connections.ts';
import { defineRoute, type OperationsServices } from '#modules/operations/services.ts';
import { recordsTopic } from '#modules/records/model/events.ts';
import { filterFields } from '../filter.ts';
import {
  cursorField,
  feedSlots,
  feedStart,
  fromField,
  pageBytes,
  pageFields,
  pageShape,
} from '../page-fields.ts';
import { changesPage } from '../page.ts';
import { placeOf, placePattern, placeText } from '../position.ts';
import { changeShape } from '../presenter.ts';
import { readCursor, subscriptionCursor } from './cursor.ts';
import {
  commitPosition,
  committedPosition,
  createSubscription,
  deleteSubscription,
  listSubscriptions,
  moveSubscription,
  parkChange,
  releaseChange,
  replayChange,
  requireSubscription,
} from './handlers.ts';
import { parkedText } from './parked.ts';
import { deliveriesOf, type Subscription } from './subscription.ts';
import { presentTarget, targetOf, targetShape, wantedTarget } from './target-fields.ts';

const scopes = {
  read: ['environment:subscriptions:read'],
  consume: ['environment:subscriptions:consume'],
  write: ['environment:subscriptions:write'],
};

const name = functionName.describe('Name of the subscription, unique in its environment.');
const path = z.strictObject({
  name: subscriptionName.describe(
    'Name of the subscription; of an on-change function `<integration>:<name>`.',
  ),
});
const place = z
  .string()
  .regex(placePattern)
  .describe('`place` of a change that the subscription has read.')
  .meta({ examples: ['3-1042'] });

interface ShownSubscription extends Subscription {
  /** Messages of the log behind its position, of every environment. */
  readonly behind: number;
}

const shown = representation<ShownSubscription>()({
  name: z.string().describe('Name of the subscription.'),
  provider_config_key: [z.string().nullable(), ({ filter }) => filter.provider_config_key ?? null],
  connection_id: [z.string().nullable(), ({ filter }) => filter.connection_id ?? null],
  model: [z.string().nullable(), ({ filter }) => filter.model ?? null],
  variant: [z.string().nullable(), ({ filter }) => filter.variant ?? null],
  models: [
    z.array(z.string()).nullable().describe('Models of an on-change function; null: see `model`.'),
    ({ filter }) => filter.models ?? null,
  ],
  target: [
    targetShape
      .nullable()
      .describe('To which the service delivers the changes; null: they are read.'),
    ({ target }) => (target === undefined ? null : presentTarget(target)),
  ],
  failing: [
    z.int().describe('Partitions of the log whose next changes did not reach the target so far.'),
    (one) => deliveriesOf(one).filter(({ attempt }) => attempt > 1).length,
  ],
  behind: z
    .int()
    .describe(
      'Upper bound of the changes that are not processed: it counts the messages of every environment.',
    ),
  parked: [
    z.int().describe('Number of changes that the consumer has set aside.'),
    ({ parked }) => parked.length,
  ],
  created_at: [timestamp, ({ createdAt }) => isoMillis(createdAt)],
  committed_at: [
    timestamp.nullable().describe('Time of the last commit (RFC 3339); null before the first.'),
    ({ committedAt }) => isoMillisOrNull(committedAt),
  ],
});

const subscriptionShape = shown.schema.meta({ id: 'Subscription' });
const oneShape = data(subscriptionShape);

async function presented({ log }: OperationsServices, one: Subscription) {
  return presentAt(one, await log.endOffsets(recordsTopic));
}

function presentAt(one: Subscription, ends: readonly number[]) {
  const behind = ends.reduce(
    (sum, end, partition) => sum + Math.max(0, end - (one.offsets[partition] ?? 0)),
    0,
  );
  return shown.of({ ...one, behind });
}

const list = defineRoute({
  method: 'GET',
  path: '/subscriptions',
  credential: 'environment',
  scopes: scopes.read,
  summary: 'List the subscriptions.',
  description: 'With how far each is behind.',
  answers: { 200: json('All of them, by name.', data(z.array(subscriptionShape))) },
  errors: [],
  async handle({ caller, services }) {
    const ends = await services.log.endOffsets(recordsTopic);
    const all = listSubscriptions(services.control, caller.environmentUid);
    return { status: 200, body: { data: all.map((one) => presentAt(one, ends)) } };
  },
});

const read = defineRoute({
  method: 'GET',
  path: '/subscriptions/{name}',
  credential: 'environment',
  scopes: scopes.read,
  summary: 'Read a subscription.',
  params: path,
  answers: { 200: json('The subscription.', oneShape) },
  errors: ['not_found'],
  async handle({ params, caller, services }) {
    const { environmentUid } = caller;
    const one = await requireSubscription(services.control, { environmentUid, ...params });
    return { status: 200, body: { data: await presented(services, one) } };
  },
});

const create = defineRoute({
  method: 'PUT',
  path: '/subscriptions/{name}',
  credential: 'environment',
  scopes: scopes.write,
  summary: 'Create a subscription.',
  description:
    'A reader of changes whose position the service keeps, or with a target an address to which it posts them. One that exists with the same filter stays as it is, with the target of the request.',
  params: z.strictObject({ name }),
  body: z.strictObject({
    ...filterFields,
    from: fromField
      .default('start')
      .describe('Where it begins: `start`, `end`, or a time (RFC 3339) within the last 28 days.'),
    target: wantedTarget
      .optional()
      .describe('Where its changes are posted; absent: its reader asks for them.'),
  }),
  answers: { 200: json('The subscription.', oneShape) },
  errors: ['conflict', 'resource_capped'],
  async handle(input) {
    const { params, body, caller, services } = input;
    const { from, target: sent, ...filter } = body;
    requireConnectionNamed(caller, filter.connection_id);
    const identity = { environmentUid: caller.environmentUid, ...params };
    const wanted = { filter, from: feedStart(from), target: sent && targetOf(sent) };
    const one = await createSubscription(services, identity, wanted, askOptions(input));
    return { status: 200, body: { data: await presented(services, one) } };
  },
});

const changes = defineRoute({
  method: 'GET',
  path: '/subscriptions/{name}/changes',
  credential: 'environment',
  scopes: scopes.consume,
  summary: 'Read the next changes of a subscription.',
  description:
    'From its position on, or from the cursor of a page that is not committed yet. Nothing is committed by reading.',
  params: path,
  query: z.strictObject({ cursor: cursorField.optional(), ...pageFields }),
  answers: { 200: json('The changes.', pageShape) },
  errors: ['not_found', 'invalid_cursor_value'],
  async handle({ params, query, caller, services, signal }) {
    const { environmentUid } = caller;
    const one = await requireSubscription(services.control, { environmentUid, ...params });
    requireConnectionNamed(caller, one.filter.connection_id);
    using _slot = feedSlots.take(environmentUid);
    const { cursor, limit, wait_s: waitS } = query;
    const from =
      cursor === undefined
        ? await committedPosition(services.log, one)
        : (await readCursor(services.log, one, cursor)).position;
    const wanted = { environmentUid, filter: one.filter };
    const found = await changesPage(services, wanted, from, {
      limit,
      waitMs: waitS * 1000,
      signal,
    });
    return { status: 200, body: pageBytes(found, subscriptionCursor(one, found.position)) };
  },
});

const commit = defineRoute({
  method: 'POST',
  path: '/subscriptions/{name}/commit',
  credential: 'environment',
  scopes: scopes.consume,
  summary: 'Commit the position of a subscription.',
  description:
    'What is before the cursor is processed. An earlier cursor than that of the last commit changes nothing.',
  params: path,
  body: z.strictObject({ cursor: cursorField.describe('`cursor` of a page of the subscription.') }),
  answers: { 200: json('The subscription.', oneShape) },
  errors: ['not_found', 'invalid_cursor_value', 'conflict'],
  async handle(input) {
    const { params, body, caller, services } = input;
    const identity = { environmentUid: caller.environmentUid, ...params };
    const one = await commitPosition(services, identity, body.cursor, askOptions(input));
    return { status: 200, body: { data: await presented(services, one) } };
  },
});

const seek = defineRoute({
  method: 'POST',
  path: '/subscriptions/{name}/seek',
  credential: 'environment',
  scopes: scopes.write,
  summary: 'Move a subscription.',
  description:
    'Back, to read changes again, or forward. Cursors that were read before cannot be committed any more.',
  params: path,
  body: z.strictObject({
    from: fromField.describe('`start`, `end`, or a time (RFC 3339) within the last 28 days.'),
  }),
  answers: { 200: json('The subscription.', oneShape) },
  errors: ['not_found'],
  async handle(input) {
    const { params, body, caller, services } = input;
    const identity = { environmentUid: caller.environmentUid, ...params };
    const from = feedStart(body.from);
    const one = await moveSubscription(services, identity, from, askOptions(input));
    return { status: 200, body: { data: await presented(services, one) } };
  },
});

const remove = defineRoute({
  method: 'DELETE',
  path: '/subscriptions/{name}',
  credential: 'environment',
  scopes: scopes.write,
  summary: 'Delete a subscription with its position.',
  description: 'That of an on-change function is deleted with the function.',
  params: path,
  answers: succeeded,
  errors: ['not_found', 'conflict'],
  async handle(input) {
    const { params, caller, services } = input;
    const identity = { environmentUid: caller.environmentUid, ...params };
    await deleteSubscription(services, identity, repeatableOptions(input));
    return { status: 200, body: { success: true } };
  },
});

const parkedShape = z
  .strictObject({
    place,
    reason: z.string().describe('Why the consumer could not process it.'),
    replaying: z.boolean().describe('Whether it is about to be delivered once more.'),
    parked_at: timestamp.describe('Time at which it was set aside (RFC 3339).'),
    change: changeShape
      .nullable()
      .describe('The change as it is read now; null where the log no longer has it.'),
  })
  .meta({ id: 'ParkedChange' });

const park = defineRoute({
  method: 'POST',
  path: '/subscriptions/{name}/parked',
  credential: 'environment',
  scopes: scopes.consume,
  summary: 'Park a change that cannot be processed.',
  description: 'It is set aside with the reason, so that the consumer can commit and go on.',
  params: path,
  body: z.strictObject({
    place,
    reason: text(1, 1_000)
      .describe('Why it could not be processed; without secrets.')
      .meta({ examples: ['The row has no owner.'] }),
  }),
  answers: { 200: json('The subscription.', oneShape) },
  errors: ['not_found', 'resource_capped'],
  async handle(input) {
    const { params, body, caller, services } = input;
    const identity = { environmentUid: caller.environmentUid, ...params };
    const wanted = { place: placeOf(body.place), reason: body.reason };
    const one = await parkChange(services, identity, wanted, askOptions(input));
    return { status: 200, body: { data: await presented(services, one) } };
  },
});

const parked = defineRoute({
  method: 'GET',
  path: '/subscriptions/{name}/parked',
  credential: 'environment',
  scopes: scopes.consume,
  summary: 'List the parked changes of a subscription, oldest first.',
  description: 'Each as it is read now, to be processed again; then release it.',
  params: path,
  answers: { 200: json('All of them.', data(z.array(parkedShape))) },
  errors: ['not_found'],
  async handle({ params, caller, services }) {
    const { environmentUid } = caller;
    const one = await requireSubscription(services.control, { environmentUid, ...params });
    requireConnectionNamed(caller, one.filter.connection_id);
    const entries: string[] = [];
    for (const { reason, parkedAt, isReplayed: replaying = false, ...at } of one.parked) {
      const fields = { place: placeText(at), reason, replaying, parked_at: isoMillis(parkedAt) };
      const change = (await parkedText(services, one, at)) ?? 'null';
      entries.push(`${JSON.stringify(fields).slice(0, -1)},"change":${change}}`);
    }
    return { status: 200, body: Buffer.from(`{"data":[${entries.join(',')}]}`) };
  },
});

const release = defineRoute({
  method: 'DELETE',
  path: '/subscriptions/{name}/parked/{place}',
  credential: 'environment',
  scopes: scopes.consume,
  summary: 'Release a parked change.',
  description: 'It was processed, or is given up.',
  params: path.extend({ place }),
  answers: succeeded,
  errors: ['not_found'],
  async handle(input) {
    const { params, caller, services } = input;
    const identity = { environmentUid: caller.environmentUid, name: params.name };
    await releaseChange(services, identity, placeOf(params.place), repeatableOptions(input));
    return { status: 200, body: { success: true } };
  },
});

const replay = defineRoute({
  method: 'POST',
  path: '/subscriptions/{name}/parked/{place}/replay',
  credential: 'environment',
  scopes: scopes.consume,
  summary: 'Deliver a parked change once more.',
  description:
    'It is released when the target has taken it; otherwise it stays with the new reason.',
  params: path.extend({ place }),
  answers: { 200: json('The subscription.', oneShape) },
  errors: ['not_found', 'conflict'],
  async handle(input) {
    const { params, caller, services } = input;
    const identity = { environmentUid: caller.environmentUid, name: params.name };
    const one = await replayChange(
      services,
      identity,
      placeOf(params.place),
      repeatableOptions(input),
    );
    return { status: 200, body: { data: await presented(services, one) } };
  },
});

export const subscriptionRoutes: readonly AnyRoute[] = [
  list,
  read,
  create,
  changes,
  commit,
  seek,
  remove,
  park,
  parked,
  release,
  replay,
];
