import { findFunction } from '../../functions/functions/queries.ts';
import type { RecordReader } from '../../records/reader.ts';
import { isEnd, type RunChanged } from '../../functions/runs/events.ts';
import { deliveriesOf, endpointsOf } from './outbox.ts';
import { runWebhooks } from './sync-payload.ts';
import { startWebhookSource, subjectOf, type WebhookSourceDeps } from './webhook-source.ts';

export interface SyncWebhookDeps extends WebhookSourceDeps {
  readonly reader: Pick<RecordReader, 'published'>;
}

/**
 * Creates the webhooks of finished runs: consumer group `svc.sync-webhooks`. Those of a sync are created after the
 * projector has published all of its changes, so that an application finds the records when it gets the webhook.
 */
export const startSyncWebhooks = (deps: SyncWebhookDeps): Promise<AsyncDisposable> =>
  startWebhookSource<RunChanged>(deps, {
    group: 'svc.sync-webhooks',
    topic: 'svc.runs.v1',
    inFlightMax: 2_000,
    async webhooksOf(end, signal) {
      const { control, reader } = deps;
      const webhook = isEnd(end.action) ? runWebhooks.find(({ isOf }) => isOf(end)) : undefined;
      const subject = webhook === undefined ? null : await subjectOf(deps, end);
      if (webhook === undefined || subject === null) return null;
      const { kind } = webhook;
      const { environment, connection } = subject;
      if (endpointsOf(control, environment, kind, connection).length === 0) return null;
      const { environmentUid, integrationKey } = connection;
      const fn = findFunction(control, environmentUid, integrationKey, 'sync', end.function);
      const hasCheckpoints = fn?.features.includes('checkpoints') ?? false;
      const payloads = webhook.payloadsOf(end, environment.webhookFlags, hasCheckpoints);
      if (payloads.length === 0) return null;
      await Promise.all(
        end.positions.map(({ partition, offset }) => reader.published(partition, offset, signal)),
      );
      const runId = end.run_id ?? '';
      const messages = await deliveriesOf(deps, { environment, connection, kind, runId }, payloads);
      return { messages, actor: `run:${runId}` };
    },
  });
