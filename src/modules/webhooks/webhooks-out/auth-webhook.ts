import type { Logger } from 'pino';
import type { ControlPlane } from '../../../control-plane/control-plane.ts';
import { findCaughtUp } from '../../../control-plane/lookup.ts';
import { uuidV5 } from '../../../kernel/ids.ts';
import type { Clock } from '../../../kernel/time.ts';
import { findConnection } from '../../connections/connections/queries.ts';
import type { Vault } from '../../access/vault/vault.ts';
import type { Environment } from '../../access/environments/state.ts';
import type { Publisher } from '../../../control-plane/publisher.ts';
import { authEventOf, authPayload, isAuthWanted, type CredentialsChanged } from './auth-payload.ts';
import { deliveriesOf } from './outbox.ts';
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

const topic = 'svc.credentials.v1';
/** Maximum age of published credentials: a new group on an old log does not send older ones. */
const newsMs = 24 * 3_600_000;

export interface AuthWebhookDeps {
  readonly log: EventLog;
  readonly schemas: Schemas;
  readonly control: ControlPlane;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly publisher: Publisher;
  readonly logger: Logger;
  readonly orders: OperatorRequests;
}

/**
 * Sends webhooks for created and reauthorized connections, failed refreshes, and the first success after a failure:
 * consumer group `svc.auth-webhooks`. The id of a webhook is derived from the event, so that a repetition is detected.
 */
export async function startAuthWebhooks(deps: AuthWebhookDeps): Promise<AsyncDisposable> {
  const codec = await deps.schemas.codec<CredentialsChanged>(topic);
  const made = new Map<number, Names>();
  return startReactor({
    log: deps.log,
    group: 'svc.auth-webhooks',
    topic,
    logger: deps.logger,
    orders: deps.orders,
    async prepare(partition, offset, signal, replay) {
      if (replay === null) made.delete(partition);
      else
        made.set(partition, await existingDeliveries(deps, { topic, partition, offset }, signal));
    },
    async handle({ partition, message, replay }) {
      const age = deps.clock.now() - message.timestamp;
      if (message.value === null || (replay === null && age > newsMs)) return;
      if (replay !== null && !isRemembered(message.timestamp, deps.clock.now())) return;
      const existing = replay === null ? noNames : (made.get(partition) ?? noNames);
      await announce(deps, codec.decode(message.value), existing);
    },
  });
}

async function announce(
  { control, vault, publisher }: AuthWebhookDeps,
  change: CredentialsChanged,
  made: Names,
): Promise<void> {
  const event = authEventOf(change);
  if (event === null) return;
  const { environment_id: uid, integration, connection_id } = change;
  const environment = await findCaughtUp(control.view, () =>
    control.view.find<Environment>('environment', [uid]),
  );
  const connection = await findCaughtUp(control.view, () => {
    const found = findConnection(control, uid, integration ?? '', connection_id ?? '');
    return found?.uid === change.connection_uid ? found : null;
  });
  // The connection was deleted, or created again under the same id: the webhook is obsolete.
  if (environment === null || connection === null) return;
  if (!isAuthWanted(event, environment.webhookFlags)) return;
  const payload = authPayload(event, environment, connection);
  const messageId = uuidV5(change.event_id, 'auth');
  const messages = await deliveriesOf(
    { control, vault },
    { environment, connection, kind: 'auth' },
    [{ messageId, payload }],
  );
  const missing = missingOf(messages, made);
  if (missing.length > 0) await publisher.publish(missing, 'system');
}
