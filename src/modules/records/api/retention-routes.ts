import { z } from 'zod';
import type { AnyRoute } from '#http/define-route.ts';
import { wholeNumber } from '#http/fields.ts';
import { data, json } from '#http/responses.ts';
import { isoMicrosOrNull } from '#kernel/time.ts';
import { requireEnvironmentById } from '#modules/access/environments/queries.ts';
import {
  defaultRetention,
  presentRetention,
  type Retention,
} from '#modules/access/environments/retention.ts';
import { defineRoute } from '../services.ts';
import type { RetentionDue } from '../write/retention-preview.ts';

const counted = z.strictObject({ records: z.int(), streams: z.int() });

/** Effect of retention now; the first hundred of the streams. */
const dueShape = data(
  z.strictObject({
    prune_after_days: z.int(),
    delete_after_days: z.int(),
    clock_is_ahead: z
      .boolean()
      .describe(
        'Whether the clock of the owner is over a day ahead of the log; retention then stops.',
      ),
    prune: counted.describe('What is due to lose its payload.'),
    delete: counted.describe('What is due to be deleted.'),
    streams: z
      .array(
        z.strictObject({
          action: z.enum(['prune', 'delete']).describe('What retention would do.'),
          records: z.int(),
          provider_config_key: z.string(),
          connection_id: z.string(),
          model: z.string(),
          variant: z.string(),
          last_run_at: z
            .string()
            .nullable()
            .describe('Time at which a run last used the stream (RFC 3339); null if none has.'),
        }),
      )
      .describe('Streams that are due; the first hundred.'),
  }),
);

function presentDue(retention: Retention, due: RetentionDue) {
  const { isClockTrusted, prune, delete: gone, streams } = due;
  return {
    ...presentRetention(retention),
    clock_is_ahead: !isClockTrusted,
    prune,
    delete: gone,
    streams: streams.map(({ action, records, integration, connectionId, ...stream }) => ({
      action,
      records,
      provider_config_key: integration,
      connection_id: connectionId,
      model: stream.model,
      variant: stream.variant,
      last_run_at: isoMicrosOrNull(stream.lastRunAt),
    })),
  };
}

const previewRetention = defineRoute({
  method: 'GET',
  path: '/environments/{environmentId}/retention',
  // A command asks the owners.
  writes: true,
  credential: 'account',
  scopes: ['account:environments:read'],
  summary: 'Preview what retention would prune and delete.',
  description: 'Nothing is changed.',
  params: z.strictObject({ environmentId: wholeNumber(0, Number.MAX_SAFE_INTEGER) }),
  answers: { 200: json('What would go.', dueShape) },
  errors: ['not_found'],
  async handle({ params, services }) {
    const environment = await requireEnvironmentById(services.control, params.environmentId);
    const retention = environment.retention ?? defaultRetention;
    const due = await services.records.writer.previewRetention(environment.uid);
    return { status: 200, body: { data: presentDue(retention, due) } };
  },
});

export const retentionRoutes: readonly AnyRoute[] = [previewRetention];
