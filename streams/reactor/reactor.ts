import type { Logger } from 'pino';
import type { LogPorts } from '#control-plane/ports.ts';
import type { ReadMessage } from '#ports/event-log.ts';
import type { DeadLetter } from '../dead-letters/state.ts';
import type { PartitionReset } from './reset-state.ts';

/** Messages that an operator has a consumer read again. */
export interface Replay {
  /** First offset after the replay. */
  readonly until: number;
  /** Whether finished work is repeated; otherwise only missing work is done. */
  readonly isRepeat: boolean;
}

/** A message with its position. */
export interface ConsumedMessage {
  readonly topic: string;
  readonly partition: number;
  readonly message: ReadMessage;
  /** Set while the message is part of a replay. */
  readonly replay: Replay | null;
}

/** Requests of operators to one consumer group, and their outcomes. */
export interface OperatorRequests {
  /** Parks a message that failed repeatedly, with its cause: it is skipped once this resolves. */
  park(consumed: ConsumedMessage, error: unknown, attempts: number): Promise<void>;
  /** Resolves when requests made before the call are known here. */
  current(): Promise<void>;
  /** A requested move of the group's position that is still pending; null = none. */
  pendingReset(partition: number): PartitionReset | null;
  /** Reports that the position has moved; no message may be processed before this resolves. */
  applied(partition: number, reset: PartitionReset): Promise<void>;
  /** The replay that a message at the offset belongs to; null = none. */
  replayAt(partition: number, offset: number): Replay | null;
  /** The oldest dead letter of the partition that is to be retried; null = none. */
  nextRetry(partition: number): DeadLetter | null;
  /** The message of the dead letter; null when the log has deleted it. */
  retryMessage(deadLetter: DeadLetter): Promise<ConsumedMessage | null>;
  /** Reports the outcome of the retry; resolves when this node knows it too. */
  retried(deadLetter: DeadLetter, outcome: 'done' | { readonly error: unknown }): Promise<void>;
  /** Called when there may be a new request. Returns the function that removes the listener. */
  onChange(listener: () => void): () => void;
}

/** What every reactor needs. */
export interface ReactorDeps extends LogPorts {
  readonly logger: Logger;
  readonly operatorRequests: OperatorRequests;
}

interface Consumption {
  readonly group: string;
  readonly topic: string;
  /** Called before the first message of a partition: `from` is where reading begins. */
  prepare?(
    partition: number,
    from: number,
    signal: AbortSignal,
    replay: Replay | null,
  ): Promise<void>;
  /** Concurrent messages of one partition, at which reading pauses. Default 1000. */
  readonly inFlightMax?: number;
  /** Wait before a failed message is retried; doubles each time, up to 10 s. Default 200. */
  readonly retryWaitMs?: number;
  /** Where a group without a committed position begins. Default `start`. */
  readonly begin?: 'start' | 'end';
}

export interface ReactorOptions<Value> extends Consumption {
  /** `ce_type` of the messages that are handled; others are skipped without decoding. Default: every type. */
  readonly type?: string;
  /**
   * Resolves when nothing remains to be done for the message. Messages start in order and run concurrently.
   * `signal` aborts when the partition or the process goes, or the position is moved: the next holder then
   * processes unfinished messages again.
   */
  readonly handle: (value: Value, consumed: ConsumedMessage, signal: AbortSignal) => Promise<void>;
}

/** A reactor to messages, whatever their values are. */
export interface MessageReactor extends Consumption, Omit<ReactorDeps, 'schemas'> {
  handle(consumed: ConsumedMessage, signal: AbortSignal): Promise<void>;
}
