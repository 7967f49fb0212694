import { z } from 'zod';
import type { AnyRoute } from '#http/define-route.ts';
import { connectionId, functionName, integrationKey } from '#http/fields.ts';
import { askOptions } from '#http/options.ts';
import { data, json, timestamp } from '#http/responses.ts';
import { limits } from '#kernel/limits.ts';
import { isoMillis } from '#kernel/time.ts';
import { requireConnectionNamed } from '#modules/connections/connections/known-connections.ts';
import { functionRef } from '../functions/entity.ts';
import { functionKinds } from '../functions/function.ts';
import { oneFunctionShape, presentFunction } from '../functions/presenter.ts';
import { requireFunction } from '../functions/queries.ts';
import { defineRoute } from '../services.ts';
import { webhookBatchEntity } from '../webhook-batches/entity.ts';
import { runQueueEntity } from './entity.ts';

const params = z.strictObject({
  uniqueKey: integrationKey,
  name: functionName.describe('Name of the function.'),
});
const type = z.enum(functionKinds).describe('Kind of the function, where several have the name.');

const concurrencyRoute = defineRoute({
  method: 'PUT',
  path: '/integrations/{uniqueKey}/functions/{name}/concurrency',
  credential: 'environment',
  scopes: ['environment:deploy'],
  summary: 'Set how many runs of a function a connection has at the same time.',
  description:
    'Further runs wait in their order. It applies to runs that are queued from now on, and stays over deployments. Of a sync it limits the runs for webhooks: it has one other run at a time anyway.',
  params,
  query: z.strictObject({ type }),
  body: z.strictObject({
    concurrency: z
      .int()
      .min(1)
      .max(limits.concurrencyMax)
      .nullable()
      .describe('Runs at the same time on each connection; null: no limit of its own.'),
  }),
  answers: { 200: json('The function.', oneFunctionShape) },
  errors: ['not_found'],
  async handle(input) {
    const { params: named, query, body, caller, services } = input;
    const { environmentUid } = caller;
    const where = [environmentUid, named.uniqueKey, query.type, named.name] as const;
    const found = await requireFunction(services.control, ...where);
    const command = { type: 'SetConcurrency', concurrency: body.concurrency } as const;
    const changed = await services.control.execute(
      functionRef(...where),
      command,
      askOptions(input),
    );
    return { status: 200, body: { data: presentFunction(changed ?? found) } };
  },
});

/** Connections, and runs of each, in one response. */
const shownMax = 100;

const queueShape = data(
  z.strictObject({
    concurrency: z
      .int()
      .nullable()
      .describe('Runs at the same time on each connection; null: no limit of its own.'),
    waiting: z.int().describe('Number of runs that wait, on all connections.'),
    connections: z
      .array(
        z.strictObject({
          connection_id: z.string(),
          running: z.array(z.string()).describe('Ids of the runs that may start, or run.'),
          waiting: z.int().describe('Number of its runs that wait.'),
          next: z.array(z.string()).describe('Ids of the runs that wait, in order; at most 100.'),
        }),
      )
      .describe('Connections with such runs, those with the most waiting ones first; at most 100.'),
    joining: z
      .array(
        z.strictObject({
          connection_id: z.string(),
          run_id: z.string().describe('Id of the run that they start.'),
          webhooks: z.int().describe('Number of webhooks that are joined.'),
          starts_at: timestamp.describe('When the run is queued, unless another webhook arrives.'),
        }),
      )
      .describe('Webhooks of a sync with a debounce that wait for further ones; at most 100.'),
  }),
);

const queueRoute = defineRoute({
  method: 'GET',
  path: '/integrations/{uniqueKey}/functions/{name}/queue',
  credential: 'environment',
  scopes: ['environment:logs:read'],
  summary: 'Get what waits for runs of a function.',
  description: 'Runs that wait because of its concurrency, and webhooks that wait to be joined.',
  params,
  query: z.strictObject({
    type,
    connection_id: connectionId.optional().describe('Only of this connection.'),
  }),
  answers: { 200: json('The runs, by connection.', queueShape) },
  errors: ['not_found'],
  async handle({ params: { uniqueKey, name }, query, caller, services }) {
    requireConnectionNamed(caller, query.connection_id);
    const { control } = services;
    const { environmentUid } = caller;
    const fn = await requireFunction(control, environmentUid, uniqueKey, query.type, name);
    const kind = fn.kind === 'sync' ? 'webhook' : fn.kind;
    const ofConnection = query.connection_id === undefined ? [] : [query.connection_id];
    const queues = control.view
      .list(runQueueEntity, [environmentUid, uniqueKey, ...ofConnection])
      .filter(({ ref }) => ref.path[3] === kind && ref.path[4] === name)
      .toSorted((a, b) => b.state.waiting.length - a.state.waiting.length);
    return {
      status: 200,
      body: {
        data: {
          concurrency: fn.concurrency ?? null,
          waiting: queues.reduce((total, { state }) => total + state.waiting.length, 0),
          connections: queues.slice(0, shownMax).map(({ ref, state }) => ({
            connection_id: ref.path[2] ?? '',
            running: [...state.admitted],
            waiting: state.waiting.length,
            next: state.waiting.slice(0, shownMax),
          })),
          joining: control.view
            .list(webhookBatchEntity, [environmentUid, uniqueKey, ...ofConnection])
            .filter(({ ref }) => fn.kind === 'sync' && ref.path[3] === name)
            .slice(0, shownMax)
            .map(({ ref, state }) => ({
              connection_id: ref.path[2] ?? '',
              run_id: state.run.runId,
              webhooks: state.webhooks,
              starts_at: isoMillis(state.dueAt),
            })),
        },
      },
    };
  },
});

export const runQueueRoutes: readonly AnyRoute[] = [concurrencyRoute, queueRoute];
