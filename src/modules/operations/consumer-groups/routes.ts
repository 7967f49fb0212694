import { z } from 'zod';
import type { AnyRoute } from '#http/define-route.ts';
import { text } from '#http/fields.ts';
import { askOptions } from '#http/options.ts';
import { json } from '#http/responses.ts';
import { defineRoute } from '../services.ts';
import { findGroup, listGroups, planReset, resetGroup, type WantedReset } from './handlers.ts';
import {
  presentGroup,
  presentMade,
  presentPlan,
  groupsShape,
  oneGroupShape,
  resetShape,
} from './presenter.ts';

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

const reset = defineRoute({
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

export const consumerGroupRoutes: readonly AnyRoute[] = [list, get, reset];
