import { deliveriesTopic } from './deliveries.ts';
import type { WebhookOut } from './events.ts';
import type { EventLog } from '../../../ports/event-log.ts';
import type { Schemas } from '../../../ports/schemas.ts';
import type { OperatorRequests } from '../../../../streams/reactor/reactor.ts';
import { startReactor } from '../../../../streams/reactor/runner.ts';
import { Dispatcher, type DispatcherDeps } from './delivery/dispatcher.ts';

/** Type of a message that creates a delivery. */
const createdType = 'svc.webhook.created';

export interface WebhookDeliveryDeps extends DispatcherDeps {
  readonly log: EventLog;
  readonly schemas: Schemas;
  readonly orders: OperatorRequests;
}

/**
 * Delivers webhooks: consumer group `svc.webhook-deliveries`. At least once: the position passes finished deliveries
 * and those that wait in the log; the view of deliveries contains the latter, and the next holder of the partition
 * continues with it.
 */
export async function startWebhookDeliveries(deps: WebhookDeliveryDeps): Promise<AsyncDisposable> {
  const codec = await deps.schemas.codec<WebhookOut>(deliveriesTopic);
  const dispatcher = await Dispatcher.start(deps);
  const reactor = await startReactor({
    log: deps.log,
    group: 'svc.webhook-deliveries',
    topic: deliveriesTopic,
    logger: deps.logger,
    orders: deps.orders,
    inFlightMax: 50_000,
    prepare: (partition, from, signal) => dispatcher.hold(partition, from, signal),
    async handle({ partition, message, replay }, signal) {
      // Outcomes are skipped without decoding.
      const { ce_type: type = createdType } = message.headers;
      if (message.value === null || type !== createdType) return;
      const step = codec.decode(message.value);
      if (step.action !== 'created') return;
      const position = { partition, offset: message.offset };
      if (replay?.isRepeat === true) await dispatcher.repeat(step, position, signal);
      else await dispatcher.take(step, position, signal);
    },
  });
  return {
    async [Symbol.asyncDispose]() {
      await reactor[Symbol.asyncDispose]();
      await dispatcher[Symbol.asyncDispose]();
    },
  };
}
