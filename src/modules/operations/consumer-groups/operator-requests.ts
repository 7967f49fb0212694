import type { ControlPlane } from '#control-plane/control-plane.ts';
import type { Publisher } from '#control-plane/publisher.ts';
import { GatewayError } from '#kernel/errors.ts';
import { scrub } from '#kernel/scrub.ts';
import { aboutDeadLetter, stepMessage } from '#streams/dead-letters/messages.ts';
import type { OperatorRequests } from '#streams/reactor/reactor.ts';
import type { PartitionReset } from '#streams/reactor/reset-state.ts';
import { parkTo } from '../dead-letters/park.ts';
import type { DeadLetters } from '../dead-letters/view.ts';
import { consumerGroupRef } from './entity.ts';

export interface OperatorRequestsDeps {
  readonly control: ControlPlane;
  readonly deadLetters: DeadLetters;
  readonly publisher: Publisher;
}

/** The operator requests of one consumer group, from the views of this node. */
export function openOperatorRequests(deps: OperatorRequestsDeps, group: string): OperatorRequests {
  const { control, deadLetters, publisher } = deps;
  const ref = consumerGroupRef(group);
  const resetOf = (partition: number): PartitionReset | null =>
    control.view.find(ref)?.resets[String(partition)] ?? null;
  return {
    park: parkTo(publisher, group),
    async current() {
      await Promise.all([control.view.caughtUp(), deadLetters.caughtUp()]);
    },
    pendingReset(partition) {
      const reset = resetOf(partition);
      return reset?.appliedAt === null ? reset : null;
    },
    async applied(partition, { id }) {
      await control.execute(ref, { type: 'Applied', id, partition }, { actor: 'system' });
    },
    replayAt(partition, offset) {
      const reset = resetOf(partition);
      if (reset === null || offset >= reset.until) return null;
      return { until: reset.until, isRepeat: reset.isRepeat };
    },
    nextRetry: (partition) =>
      deadLetters.tables.retrying(group).find((deadLetter) => deadLetter.partition === partition) ??
      null,
    async retryMessage(deadLetter) {
      const content = await deadLetters.valueAt(deadLetter.place);
      if (content === null) return null;
      const { topic, partition, offset, key, parkedAt } = deadLetter;
      const texts = Object.entries(content.headers).map(([name, bytes]) => {
        return [name, Buffer.from(bytes).toString()];
      });
      const headers = Object.fromEntries(texts) as Record<string, string>;
      const timestamp = Math.floor(parkedAt / 1000);
      const message = { offset, key, value: content.value, headers, timestamp };
      return { topic, partition, message, replay: null };
    },
    async retried(deadLetter, outcome) {
      const step = outcome === 'done' ? resolved : failed(outcome.error);
      await publisher.publish(
        [stepMessage(aboutDeadLetter(deadLetter), deadLetter, step)],
        'system',
      );
      await deadLetters.caughtUp();
    },
    onChange(listener) {
      const stops = [
        control.view.onChange((changed) => {
          const isOurs = changed.some(({ kind, path }) => kind === ref.kind && path[0] === group);
          if (isOurs) listener();
        }),
        deadLetters.onChange(listener),
      ];
      return () => {
        for (const stop of stops) stop();
      };
    },
  };
}

const resolved = { type: 'svc.dead-letter.resolved', attempts: 1 } as const;

const failed = (error: unknown) =>
  ({
    type: 'svc.dead-letter.retry_failed',
    attempts: 1,
    errorCode: error instanceof GatewayError ? error.code : 'server_error',
    errorMessage: scrub(error instanceof Error ? error.message : String(error)),
  }) as const;
