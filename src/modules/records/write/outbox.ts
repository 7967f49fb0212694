import { GatewayError } from '#kernel/errors.ts';
import { retrying } from '#kernel/retry.ts';
import type { Clock } from '#kernel/time.ts';
import type { EventLog, Message } from '#ports/event-log.ts';
import { recordCommandsTopic } from '../model/commands.ts';

/** Commands of one attempt of a run to one stream: they must be decided in order. */
export interface CommandChannel {
  readonly id: string;
  readonly partition: number;
  /** Whether the owner deduplicates commands by their number: then appending one again is harmless. */
  readonly isNumbered: boolean;
}

export interface Outbox {
  /**
   * Numbers each message of the channel before it returns. Resolves when all of them are durably in the log.
   * @throws GatewayError `log_unavailable`: some may be in the log; `log_full`
   */
  send(channel: CommandChannel, messages: Iterable<(n: number) => Message>): Promise<void>;
}

interface PendingSend extends PromiseWithResolvers<undefined> {
  readonly messages: readonly Message[];
}
interface Queue {
  last: number;
  waiting: PendingSend[];
  isSending: boolean;
}

const appendAttemptsMax = 3;
/** Idle queues above this number are dropped, the oldest first. */
const queuesMax = 10_000;

export function createOutbox(deps: { readonly log: EventLog; readonly clock: Clock }): Outbox {
  const { log, clock } = deps;
  const queues = new Map<string, Queue>();

  return {
    send(channel, messages) {
      const queue = queues.get(channel.id) ?? { last: 0, waiting: [], isSending: false };
      queues.set(channel.id, queue);
      if (queues.size > queuesMax) forgetIdle(queues);
      // Numbers follow the clock: a new queue or a new process continues above the earlier ones.
      queue.last = Math.max(queue.last, clock.nowMicros());
      const numbered: Message[] = [];
      for (const make of messages) numbered.push(make(++queue.last));
      const sending = { messages: numbered, ...Promise.withResolvers<undefined>() };
      queue.waiting.push(sending);
      if (!queue.isSending) void drain(log, channel, queue);
      return sending.promise;
    },
  };
}

/** One append per channel at a time: a later command never overtakes one that is retried. */
async function drain(log: EventLog, channel: CommandChannel, queue: Queue): Promise<void> {
  queue.isSending = true;
  while (queue.waiting.length > 0) {
    const group = queue.waiting;
    queue.waiting = [];
    const messages = group.flatMap((sending) => sending.messages);
    try {
      await append(log, channel, messages);
      for (const { resolve } of group) resolve(undefined);
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }
  queue.isSending = false;
}

async function append(
  log: EventLog,
  channel: CommandChannel,
  messages: readonly Message[],
): Promise<void> {
  const { partition, isNumbered } = channel;
  await retrying(() => log.append([{ topic: recordCommandsTopic, partition, messages }]), {
    isRetryable: (error, attempts) =>
      // Perhaps appended: only the number makes a second time harmless.
      isNumbered &&
      error instanceof GatewayError &&
      error.code === 'log_unavailable' &&
      attempts < appendAttemptsMax,
    firstMs: 0,
  });
}

function forgetIdle(queues: Map<string, Queue>): void {
  for (const [id, { waiting, isSending }] of queues) {
    if (isSending || waiting.length > 0) continue;
    queues.delete(id);
    if (queues.size <= queuesMax) return;
  }
}
