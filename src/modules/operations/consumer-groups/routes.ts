import { z } from 'zod';
import { json } from '../../../http/responses.ts';
import type { AnyRoute } from '../../../http/define-route.ts';
import { defineRoute } from '../services.ts';
import { text } from '../../../http/fields.ts';
import { askOptions } from '../../../http/options.ts';
import { findGroup, listGroups, planReset, resetGroup, type WantedReset } from './handlers.ts';
import {
  presentGroup,
  presentMade,
  presentPlan,
  groupsShape,
  oneGroupShape,
  resetShape,
} from './presenter.ts';

const path = z.strictObject({ name: text(1, 255) });

const list = defineRoute({
  method: 'GET',
  path: '/consumer-groups',
  credential: 'account',
  scopes: ['account:consumer-groups:read'],
  summary: 'The consumer groups of the service, with their position and lag in each partition.',
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
  summary: 'One consumer group.',
  params: path,
  answers: { 200: json('The group.', oneGroupShape) },
  errors: ['not_found'],
  async handle({ params, services }) {
    return { status: 200, body: { data: presentGroup(await findGroup(services, params.name)) } };
  },
});

const offset = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
const resetBody = z.strictObject({
  to: z.union([
    z.literal('start'),
    z.literal('end'),
    z.strictObject({ time: z.iso.datetime({ offset: true }) }).meta({ id: 'TimePosition' }),
    z.strictObject({ offset }).meta({ id: 'OffsetPosition' }),
  ]),
  partitions: z.array(z.number().int().min(0).max(100_000)).min(1).max(10_000).optional(),
  dry_run: z.boolean().optional(),
  repeat: z.boolean().optional(),
  skip: z.boolean().optional(),
});

const reset = defineRoute({
  method: 'POST',
  path: '/consumer-groups/{name}/reset',
  credential: 'account',
  scopes: ['account:consumer-groups:write'],
  summary: 'Moves the position of a consumer group; with `dry_run` only says what it would do.',
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
