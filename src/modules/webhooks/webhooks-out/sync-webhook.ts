import type { Logger } from 'pino';
import type { ControlPlane } from '../../../control-plane/control-plane.ts';
import { findCaughtUp } from '../../../control-plane/lookup.ts';
import type { Clock } from '../../../kernel/time.ts';
import { findConnection } from '../../connections/connections/queries.ts';
import type { Connection } from '../../connections/connections/state.ts';
import type { Vault } from '../../access/vault/vault.ts';
import type { Environment } from '../../access/environments/state.ts';
import { findFunction } from '../../functions/functions/queries.ts';
import type { RecordReader } from '../../records/reader.ts';
import { isEnd, type RunChanged } from '../../functions/runs/events.ts';
import type { Publisher } from '../../../control-plane/publisher.ts';
import { deliveriesOf, endpointsOf, type Payload } from './outbox.ts';
import { asyncActionPayloads, syncPayloads } from './sync-payload.ts';
import type { EventLog } from '../../../ports/event-log.ts';
import type { Schemas } from '../../../ports/schemas.ts';
import {
  existingDeliveries,
  isRemembered,
  missingOf,
  noNames,
  type Names,
} from './existing-deliveries.ts';
import type { OperatorRequests } from '../../../../streams/reactor/reactor.ts';
import { startReactor } from '../../../../streams/reactor/runner.ts';

const topic = 'svc.runs.v1';

export interface SyncWebhookDeps {
  readonly log: EventLog;
  readonly schemas: Schemas;
  readonly control: ControlPlane;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly reader: Pick<RecordReader, 'published'>;
  readonly publisher: Publisher;
  readonly logger: Logger;
  readonly orders: OperatorRequests;
}

/**
 * Creates the webhooks of finished runs: consumer group `svc.sync-webhooks`. Those of a sync are created after the
 * projector has published all of its changes, so that an application finds the records when it gets the webhook.
 */
export async function startSyncWebhooks(deps: SyncWebhookDeps): Promise<AsyncDisposable> {
  const codec = await deps.schemas.codec<RunChanged>(topic);
  const made = new Map<number, Names>();
  return startReactor({
    log: deps.log,
    group: 'svc.sync-webhooks',
    topic,
    logger: deps.logger,
    orders: deps.orders,
    inFlightMax: 2_000,
    async prepare(partition, from, signal, replay) {
      if (replay === null) made.delete(partition);
      else
        made.set(
          partition,
          await existingDeliveries(deps, { topic, partition, offset: from }, signal),
        );
    },
    async handle({ partition, message, replay }, signal) {
      if (message.value === null) return;
      if (replay !== null && !isRemembered(message.timestamp, deps.clock.now())) return;
      const change = codec.decode(message.value);
      const existing = replay === null ? noNames : (made.get(partition) ?? noNames);
      if (isAnnounced(change)) await announce(deps, change, existing, signal);
    },
  });
}

function isAnnounced(change: RunChanged): boolean {
  if (!isEnd(change.action)) return false;
  const isOfSync = change.kind === 'sync' || change.kind === 'webhook';
  return isOfSync || (change.kind === 'action' && change.trigger === 'async');
}

async function announce(
  deps: SyncWebhookDeps,
  end: RunChanged,
  made: Names,
  signal: AbortSignal,
): Promise<void> {
  const { control, vault, publisher } = deps;
  const { environment_id: uid, integration, connection_id } = end;
  const environment = await findCaughtUp(control.view, () =>
    control.view.find<Environment>('environment', [uid]),
  );
  const connection = await findCaughtUp(control.view, () => {
    const found = findConnection(control, uid, integration ?? '', connection_id ?? '');
    return found?.uid === end.connection_uid ? found : null;
  });
  // The connection was deleted, or created again under the same id: the webhook is obsolete.
  if (environment === null || connection === null) return;
  const kind = end.kind === 'action' ? 'async_action' : 'sync';
  if (endpointsOf(control, environment, kind, connection).length === 0) return;
  const payloads = payloadsOf(control, end, environment, connection);
  if (payloads.length === 0) return;
  await Promise.all(
    end.positions.map(({ partition, offset }) => deps.reader.published(partition, offset, signal)),
  );
  const runId = end.run_id ?? '';
  const messages = await deliveriesOf(
    { control, vault },
    { environment, connection, kind, runId },
    payloads,
  );
  const missing = missingOf(messages, made);
  if (missing.length > 0) await publisher.publish(missing, `run:${runId}`);
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
