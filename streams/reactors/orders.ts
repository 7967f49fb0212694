import type { ControlPlane } from '../../src/control-plane/control-plane.ts';
import { consumerGroupRef } from '../../src/modules/consumer-groups/entity.ts';
import type { ConsumerGroup, PartitionReset } from '../../src/modules/consumer-groups/state.ts';
import type { Publisher } from '../../src/modules/runs/publisher.ts';
import { parkTo } from './dead-letters.ts';
import type { ConsumerOrders } from './reactor.ts';

/** The orders of one consumer group, as this node's view of the control plane has them. */
export function openOrders(
  { control, publisher }: { readonly control: ControlPlane; readonly publisher: Publisher },
  group: string,
): ConsumerOrders {
  const ref = consumerGroupRef(group);
  const resetOf = (partition: number): PartitionReset | null =>
    control.view.find<ConsumerGroup>(ref.kind, ref.path)?.resets[String(partition)] ?? null;
  return {
    park: parkTo(publisher, group),
    current: () => control.view.caughtUp(),
    pendingReset(partition) {
      const reset = resetOf(partition);
      return reset?.appliedAt === null ? reset : null;
    },
    async applied(partition, { id }) {
      await control.ask(ref, { type: 'Applied', id, partition }, { actor: 'system' });
    },
    replayAt(partition, offset) {
      const reset = resetOf(partition);
      if (reset === null || offset >= reset.until) return null;
      return { until: reset.until, isRepeat: reset.isRepeat };
    },
    onChange: (listener) =>
      control.view.onChange((changed) => {
        const isOurs = changed.some(({ kind, path }) => kind === ref.kind && path[0] === group);
        if (isOurs) listener();
      }),
  };
}
