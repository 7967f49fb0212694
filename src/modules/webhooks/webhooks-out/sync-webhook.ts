import type { ControlPlane } from '../../../control-plane/control-plane.ts';
import type { Connection } from '../../connections/connections/state.ts';
import type { Environment } from '../../access/environments/state.ts';
import { findFunction } from '../../functions/functions/queries.ts';
import type { RecordReader } from '../../records/reader.ts';
import { isEnd, type RunChanged } from '../../functions/runs/events.ts';
import { deliveriesOf, endpointsOf, type Payload } from './outbox.ts';
import { asyncActionPayloads, syncPayloads } from './sync-payload.ts';
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
      const subject = isAnnounced(end) ? await subjectOf(deps, end) : null;
      if (subject === null) return null;
      const { environment, connection } = subject;
      const kind = end.kind === 'action' ? 'async_action' : 'sync';
      if (endpointsOf(control, environment, kind, connection).length === 0) return null;
      const payloads = payloadsOf(control, end, environment, connection);
      if (payloads.length === 0) return null;
      await Promise.all(
        end.positions.map(({ partition, offset }) => reader.published(partition, offset, signal)),
      );
      const runId = end.run_id ?? '';
      const messages = await deliveriesOf(deps, { environment, connection, kind, runId }, payloads);
      return { messages, actor: `run:${runId}` };
    },
  });

function isAnnounced(change: RunChanged): boolean {
  if (!isEnd(change.action)) return false;
  const isOfSync = change.kind === 'sync' || change.kind === 'webhook';
  return isOfSync || (change.kind === 'action' && change.trigger === 'async');
}

function payloadsOf(
  control: ControlPlane,
  end: RunChanged,
  { webhookFlags }: Environment,
  { environmentUid, integrationKey }: Connection,
): Payload[] {
  if (end.kind === 'action') return asyncActionPayloads(end, webhookFlags);
  const fn = findFunction(control, environmentUid, integrationKey, 'sync', end.function);
  return syncPayloads(end, webhookFlags, fn?.features.includes('checkpoints') ?? false);
}
