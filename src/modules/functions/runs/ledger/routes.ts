import { z } from 'zod';
import { checkQuery } from '#http/check-parts.ts';
import type { AnyRoute } from '#http/define-route.ts';
import { text, wholeNumber } from '#http/fields.ts';
import { json, succeeded, content } from '#http/responses.ts';
import type { StreamRoute } from '#http/stream-route.ts';
import { tailTopic } from '#http/topic-tail.ts';
import { EnvironmentSlots } from '#kernel/environment-slots.ts';
import { limits } from '#kernel/limits.ts';
import { isStillAuthorized } from '#modules/access/console-sessions/handlers.ts';
import { requireConnectionNamed } from '#modules/connections/connections/known-connections.ts';
import { defineRoute, type FunctionsServices } from '../../services.ts';
import type { RunChanged } from './events.ts';
import { runFilterFields, cancelRun, inputOfRun, oneRun, runsPage } from './history.ts';
import {
  oneRunShape,
  revertedShape,
  runInputShape,
  runsShape,
  presentRunChange,
  statusOf,
} from './presenter.ts';
import { runs } from './projection.ts';
import { revertRun } from './revert-run.ts';

const query = z.strictObject(runFilterFields);
const slots = new EnvironmentSlots({
  total: limits.tailStreamsMax,
  perEnvironment: limits.environmentTailStreamsMax,
  code: 'too_many_request',
  noun: 'streams of runs',
});
type TailQuery = z.output<typeof query>;

/**
 * Runs as they change: server-sent events named `run`, one each time a run is queued, starts or ends, with the run at
 * that step (`tailTopic`). `queued_at` is null but in the event of the queued run.
 */
export const runsTailRoute: StreamRoute<FunctionsServices> = {
  prefix: '/runs/tail',
  path: '/runs/tail',
  methods: ['GET'],
  credential: 'environment',
  scopes: ['environment:logs:read'],
  summary: 'Follow the runs.',
  description: 'Server-sent events: one each time a run is queued, starts or ends.',
  query,
  headers: z.object({ 'last-event-id': z.string().optional() }),
  answers: { 200: content('Events named `run`, one for each change.', 'text/event-stream') },
  errors: ['invalid_query_params', 'invalid_cursor_value'],
  async handle(call) {
    const wanted = checkQuery(query, call.target.split('?', 2)[1] ?? '');
    requireConnectionNamed(call.caller, wanted.connection_id);
    await tailTopic<RunChanged>(call, {
      topic: runs.topic,
      event: 'run',
      slots,
      dataOf: (change) => (isWanted(change, wanted) ? presentRunChange(change) : null),
      isAuthorized: () => isStillAuthorized(call.services, call.caller),
    });
  },
};

function isWanted(change: RunChanged, wanted: TailQuery): boolean {
  const isOne = (list: readonly string[] | undefined, value: string): boolean =>
    list === undefined || list.includes(value);
  const isSame = (name: string | undefined, value: string | null): boolean =>
    name === undefined || name === value;
  return (
    change.action !== 'progress' &&
    isOne(wanted.kind, change.kind) &&
    isOne(wanted.status, statusOf(change.action)) &&
    isSame(wanted.function, change.function) &&
    isSame(wanted.provider_config_key, change.integration) &&
    isSame(wanted.connection_id, change.connection_id) &&
    isSame(wanted.variant, change.variant)
  );
}

const scopes = ['environment:logs:read'] as const;
const path = z.strictObject({ id: text(1, 255).describe('Id of the run.') });
const dateTime = z.iso.datetime({ offset: true });

const list = defineRoute({
  method: 'GET',
  path: '/runs',
  credential: 'environment',
  scopes,
  summary: 'List runs, newest first.',
  description: 'Those of the last 24 hours, unless `since` is sent. Runs are kept for 90 days.',
  query: z.strictObject({
    ...runFilterFields,
    search: text(1, 256)
      .optional()
      .describe(
        'Text in the name of the function, in the id of the connection, or in the name or e-mail address of its end user.',
      ),
    since: dateTime.optional(),
    until: dateTime.optional(),
    cursor: text(1, 1024).optional(),
    limit: wholeNumber(1, 500).default(100),
  }),
  answers: { 200: json('A page of runs.', runsShape) },
  errors: ['invalid_cursor_value'],
  async handle({ query, caller, services }) {
    const { kind, status, limit, ...named } = query;
    const request = {
      kinds: kind,
      statuses: status,
      functionName: named.function,
      integrationKey: named.provider_config_key,
      connectionId: named.connection_id,
      variant: named.variant,
      search: named.search,
      since: named.since,
      until: named.until,
      cursor: named.cursor,
    };
    const conditions = Object.entries(request).filter(([, value]) => value !== undefined);
    return {
      status: 200,
      body: await runsPage(services, caller, { ...Object.fromEntries(conditions), limit }),
    };
  },
});

const get = defineRoute({
  method: 'GET',
  path: '/runs/{id}',
  credential: 'environment',
  scopes,
  summary: 'Get a run with its timeline.',
  description: 'Requests, saves, checkpoints and log lines.',
  params: path,
  answers: { 200: json('The run.', oneRunShape) },
  errors: ['not_found'],
  async handle({ params, caller, services }) {
    return { status: 200, body: { data: await oneRun(services, caller, params.id) } };
  },
});

const inputRoute = defineRoute({
  method: 'GET',
  path: '/runs/{id}/input',
  credential: 'environment',
  scopes: ['environment:actions:execute'],
  summary: 'Get the input of a run of an action or on-change function.',
  description:
    'Of an on-change function the changes that it was called with. It is kept for 7 days.',
  params: path,
  answers: { 200: json('The input.', runInputShape) },
  errors: ['not_found'],
  async handle({ params, caller, services }) {
    return { status: 200, body: { data: await inputOfRun(services, caller, params.id) } };
  },
});

const cancel = defineRoute({
  method: 'POST',
  path: '/runs/{id}/cancel',
  credential: 'environment',
  scopes: ['environment:syncs:execute', 'environment:actions:execute'],
  summary: 'Cancel a run.',
  description: 'A queued run ends at once; a running one is stopped.',
  params: path,
  answers: succeeded,
  errors: ['not_found'],
  async handle({ params, caller, services }) {
    await cancelRun(services, caller, params.id);
    return { status: 200, body: { success: true } };
  },
});

const revert = defineRoute({
  method: 'POST',
  path: '/runs/{id}/revert',
  credential: 'environment',
  scopes: ['environment:records:write'],
  summary: 'Revert what a run did to records.',
  description:
    'The changes are written by a run of their own. Records that changed since are left alone and reported.',
  params: path,
  body: z.strictObject({
    dry_run: z
      .boolean()
      .default(false)
      .meta({ description: 'Say what would be done, and do nothing.' }),
  }),
  answers: { 200: json('What was taken back, or would be.', revertedShape) },
  errors: ['not_found', 'conflict', 'history_gone', 'unknown_connection'],
  async handle({ params, body, caller, services }) {
    const data = await revertRun(services, caller, params.id, body.dry_run);
    return { status: 200, body: { data } };
  },
});

export const runRoutes: readonly AnyRoute[] = [list, get, inputRoute, cancel, revert];
