import type { Logger } from 'pino';
import type { PartitionReset } from './reset-state.ts';
import type { DeadLetter } from '../dead-letters/state.ts';
import type { EventLog, ReadMessage } from '../../src/ports/event-log.ts';

/** Messages that an operator has a consumer read once more. */
export interface Replay {
  /** Offset at which what is new begins. */
  readonly until: number;
  /** Whether finished work is to be done again; otherwise only what is missing. */
  readonly isRepeat: boolean;
}

/** A message with where it lies. */
export interface Taken {
  readonly topic: string;
  readonly partition: number;
  readonly message: ReadMessage;
  /** Set while the message is one of a replay. */
  readonly replay: Replay | null;
}

/** What operators and one consumer group have to say to each other. */
export interface OperatorRequests {
  /** Sets a message aside that failed so often, with its cause: it is passed over when this resolves. */
  park(taken: Taken, error: unknown, attempts: number): Promise<void>;
  /** Resolves when what was ordered before the call is known here. */
  current(): Promise<void>;
  /** A move of the group's position that was asked for and is not made yet; null = none. */
  pendingReset(partition: number): PartitionReset | null;
  /** The position has moved there; nothing may be taken before this resolves. */
  applied(partition: number, reset: PartitionReset): Promise<void>;
  /** The replay that a message at the offset belongs to; null = none. */
  replayAt(partition: number, offset: number): Replay | null;
  /** The oldest letter of the partition that is to be tried again; null = none. */
  nextRetry(partition: number): DeadLetter | null;
  /** The message of the letter; null when the log has let go of it. */
  retryMessage(deadLetter: DeadLetter): Promise<Taken | null>;
  /** Says what came of the retry; resolves when this node knows of it as well. */
  retried(letter: DeadLetter, outcome: 'done' | { readonly error: unknown }): Promise<void>;
  /** Called when there may be a new order. Returns what ends it. */
  onChange(listener: () => void): () => void;
}

export interface ReactorOptions {
  readonly log: EventLog;
  readonly group: string;
  readonly topic: string;
  readonly logger: Logger;
  readonly orders: OperatorRequests;
  /**
   * Resolves when nothing remains to be done for the message. Messages are taken in order and worked on
   * beside one another. `signal` ends when the partition or the process goes, or the position is moved:
   * what is unfinished then is taken again by the next holder.
   */
  handle(taken: Taken, signal: AbortSignal): Promise<void>;
  /** Before the first message of a partition: `from` is where the reading begins. */
  prepare?(
    partition: number,
    from: number,
    signal: AbortSignal,
    replay: Replay | null,
  ): Promise<void>;
  /** Messages of one partition being worked on; reading pauses at it. Default 1000. */
  readonly inFlightMax?: number;
  /** Wait before a failed message is tried again; doubles each time, up to 10 s. Default 200. */
  readonly retryWaitMs?: number;
  /** Where a group that has never committed begins. Default `start`. */
  readonly begin?: 'start' | 'end';
}
