import type { ReactorDeps } from '#streams/reactor/reactor.ts';
import { startReactor } from '#streams/reactor/runner.ts';
import { deliveriesTopic } from './deliveries.ts';
import { Dispatcher, type DispatcherDeps } from './delivery/dispatcher.ts';
import type { WebhookOut } from './events.ts';

/**
 * Delivers webhooks: consumer group `svc.webhook-deliveries`. At least once: the position passes finished deliveries
 * and those that wait in the log; the view of deliveries contains the latter, and the next holder of the partition
 * continues with it.
 */
export async function startWebhookDeliveries(
  deps: DispatcherDeps & ReactorDeps,
): Promise<AsyncDisposable> {
  const dispatcher = await Dispatcher.start(deps);
  const reactor = await startReactor<WebhookOut>(deps, {
    group: 'svc.webhook-deliveries',
    topic: deliveriesTopic,
    type: 'svc.webhook.created',
    inFlightMax: 50_000,
    prepare: (partition, from, signal) => dispatcher.hold(partition, from, signal),
    async handle(step, { partition, message, replay }, signal) {
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
