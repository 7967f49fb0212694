import { z } from 'zod';
import { checkQuery } from '#http/check-parts.ts';
import { content } from '#http/responses.ts';
import type { StreamRoute } from '#http/stream-route.ts';
import { tailTopic } from '#http/topic-tail.ts';
import { EnvironmentSlots } from '#kernel/environment-slots.ts';
import { limits } from '#kernel/limits.ts';
import { isStillAuthorized } from '#modules/access/console-sessions/handlers.ts';
import type { FunctionsServices } from '../../services.ts';
import type { RunChanged } from './events.ts';
import { runFilterFields } from './fields.ts';
import { requireConnectionNamed } from './history.ts';
import { presentRunChange, statusOf } from './presenter.ts';
import { runs } from './projection.ts';

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
