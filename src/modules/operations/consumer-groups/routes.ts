import { z } from 'zod';
import type { AnyRoute } from '#http/define-route.ts';
import { text } from '#http/fields.ts';
import { askOptions } from '#http/options.ts';
import { representation } from '#http/representation.ts';
import { json, data, timestamp } from '#http/responses.ts';
import { isoMillis, isoMillisOrNull } from '#kernel/time.ts';
import { consumerGroup } from '#streams/consumer-groups.ts';
import type { PartitionReset } from '#streams/reactor/reset-state.ts';
import { defineRoute } from '../services.ts';
import {
  findGroup,
  listGroups,
  planReset,
  resetGroup,
  type WantedReset,
  type GroupFacts,
  type MadeReset,
} from './handlers.ts';
import type { Move, PartitionPosition } from './positions.ts';

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

const shownReset = representation<PartitionReset>()({
  id: z.string().describe('Id of the reset.'),
  from: z.int(),
  to: z.int(),
  repeat: [z.boolean().describe('Whether effects may be repeated.'), ({ isRepeat }) => isRepeat],
  by: z.string(),
  asked_at: [timestamp.describe('Time of the request (RFC 3339).'), ({ at }) => isoMillis(at)],
  applied_at: [
    timestamp.nullable().describe('Time at which it was applied (RFC 3339); null before.'),
    ({ appliedAt }) => isoMillisOrNull(appliedAt),
  ],
});

const position = representation<
  PartitionPosition & { readonly reset: PartitionReset | undefined }
>()({
  partition: z.int(),
  start: z.int().describe('Offset of the first message that is left.'),
  committed: z.int().nullable().describe('Committed offset; null without one.'),
  end: z.int(),
  lag: z.int(),
  reset: [
    shownReset.schema.nullable().describe('Last reset of the partition; null without one.'),
    (one) => (one.reset === undefined ? null : shownReset.of(one.reset)),
  ],
});

const group = representation<GroupFacts & ReturnType<typeof consumerGroup>>()({
  name: z.string().describe('Name of the consumer group.'),
  topic: z.string(),
  why: z.string().describe('What the consumer does.'),
  resettable: [
    z.boolean().describe('Whether its position can be moved.'),
    ({ replay }) => !('fixed' in replay),
  ],
  can_repeat: [
    z.boolean().describe('Whether `repeat` allows effects to be repeated.'),
    ({ replay }) => !('fixed' in replay) && replay.canRepeat === true,
  ],
  replay: [
    z.string().describe('What a replay of its messages does.'),
    ({ replay }) => ('fixed' in replay ? replay.fixed : replay.effect),
  ],
  lag: [z.int(), ({ positions }) => sum(positions.map(({ lag }) => lag))],
  partitions: [
    z.array(position.schema),
    ({ positions, resets }) =>
      positions.map((one) => position.of({ ...one, reset: resets[String(one.partition)] })),
  ],
});

const groupShape = group.schema.meta({ id: 'ConsumerGroup' });
const oneGroupShape = data(groupShape);
const groupsShape = data(z.array(groupShape));

const presentGroup = (facts: GroupFacts) => group.of({ ...facts, ...consumerGroup(facts.name) });

/** A planned reset (`made` is null), or a requested one. */
interface Reset {
  readonly moves: readonly Move[];
  readonly made: MadeReset | null;
}

const move = representation<Move & { readonly made: MadeReset | null }>()({
  partition: z.int(),
  from: z.int(),
  to: z.int(),
  replayed: z.int(),
  skipped: z.int(),
  state: [
    z
      .enum(['applied', 'waiting'])
      .optional()
      .describe('Whether the owner of the partition has applied it; absent in a dry run.'),
    ({ partition, made }) => {
      if (made === null) return undefined;
      return made.applied.has(partition) ? 'applied' : 'waiting';
    },
  ],
});

/** The moves of a reset; with `dry_run` those it would make. */
const moves = representation<Reset>()({
  dry_run: [z.boolean(), ({ made }) => made === null],
  id: [
    z.string().optional().describe('Id of the reset; absent in a dry run.'),
    ({ made }) => made?.id,
  ],
  replayed: [z.int(), (one) => sum(one.moves.map(({ replayed }) => replayed))],
  skipped: [z.int(), (one) => sum(one.moves.map(({ skipped }) => skipped))],
  partitions: [
    z.array(move.schema),
    ({ moves: all, made }) => all.map((one) => move.of({ ...one, made })),
  ],
});

const resetShape = data(moves.schema.meta({ id: 'ConsumerGroupReset' }));
const presentPlan = (planned: readonly Move[]) => moves.of({ moves: planned, made: null });
const presentMade = (made: MadeReset) => moves.of({ moves: made.moves, made });

const path = z.strictObject({ name: text(1, 255).describe('Name of the consumer group.') });

const list = defineRoute({
  method: 'GET',
  path: '/consumer-groups',
  credential: 'account',
  scopes: ['account:consumer-groups:read'],
  summary: 'List the consumer groups of the service.',
  description: 'With their position and lag in each partition.',
  answers: { 200: json('The groups.', groupsShape) },
  errors: [],
  async handle({ services }) {
    return { status: 200, body: { data: (await listGroups(services)).map(presentGroup) } };
  },
});

const get = defineRoute({
  method: 'GET',
  path: '/consumer-groups/{name}',
  credential: 'account',
  scopes: ['account:consumer-groups:read'],
  summary: 'Get a consumer group.',
  params: path,
  answers: { 200: json('The group.', oneGroupShape) },
  errors: ['not_found'],
  async handle({ params, services }) {
    return { status: 200, body: { data: presentGroup(await findGroup(services, params.name)) } };
  },
});

const offset = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
const resetBody = z.strictObject({
  to: z
    .union([
      z.literal('start'),
      z.literal('end'),
      z
        .strictObject({
          time: z.iso
            .datetime({ offset: true })
            .describe('The first message from this time on (RFC 3339).'),
        })
        .meta({ id: 'TimePosition' }),
      z.strictObject({ offset }).meta({ id: 'OffsetPosition' }),
    ])
    .describe('The position: the start, the end, a time or an offset.'),
  partitions: z
    .array(z.number().int().min(0).max(100_000))
    .min(1)
    .max(10_000)
    .optional()
    .describe('Numbers of the partitions; absent: all of them.'),
  dry_run: z.boolean().optional(),
  repeat: z.boolean().optional().describe('True: allow a repetition of effects such as webhooks.'),
  skip: z.boolean().optional().describe('True: allow messages to be skipped.'),
});

const resetRoute = defineRoute({
  method: 'POST',
  path: '/consumer-groups/{name}/reset',
  credential: 'account',
  scopes: ['account:consumer-groups:write'],
  summary: 'Reset the position of a consumer group.',
  description:
    'With `dry_run` it reports what it would do. A reset that skips messages, or repeats effects, must allow it.',
  params: path,
  body: resetBody,
  answers: {
    200: json('It is done, or would be.', resetShape),
    202: json('Some partitions still wait.', resetShape),
  },
  errors: ['not_found', 'consumer_not_resettable', 'reset_skips_messages'],
  async handle(input) {
    const { params, body, services } = input;
    const wanted = wantedOf(body);
    if (body.dry_run === true) {
      const data = presentPlan(await planReset(services, params.name, wanted));
      return { status: 200, body: { data } };
    }
    const made = await resetGroup(services, params.name, wanted, askOptions(input));
    const isDone = made.applied.size === made.moves.length;
    return { status: isDone ? 200 : 202, body: { data: presentMade(made) } };
  },
});

function wantedOf({ to, partitions, repeat, skip }: z.output<typeof resetBody>): WantedReset {
  return {
    to: typeof to === 'object' && 'time' in to ? { time: Date.parse(to.time) } : to,
    partitions: partitions ?? null,
    isRepeat: repeat ?? false,
    maySkip: skip ?? false,
  };
}

export const consumerGroupRoutes: readonly AnyRoute[] = [list, get, resetRoute];
