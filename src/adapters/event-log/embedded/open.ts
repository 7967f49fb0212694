import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { Clock } from '../../../kernel/time.ts';
import type { EventLog, TopicSpec } from '../../../ports/event-log.ts';
import type { Schemas } from '../../../ports/schemas.ts';
import { startPeer, type PeerThread } from '../../threads/start-peer.ts';
import { openEmbeddedLogClient } from './client.ts';
import type { OnCorruption } from './corruption.ts';
import type { LogThreadData } from './log-thread.ts';
import type { CleanRequest } from './protocol.ts';

export interface EmbeddedLogOptions {
  /** Made when missing; one process at a time. */
  readonly directory: string;
  /** Gives messages without a timestamp theirs. */
  readonly clock?: Clock;
  /** Between passes of retention and compaction. Default a minute. */
  readonly cleanEveryMs?: number;
  /** Told when a pass failed; the next one tries again. */
  readonly onCleanFailure?: (failure: string) => void;
  /** Upper bound of the log's file in pages of 8 KiB; beyond it appends fail with `log_full`. */
  readonly maxPages?: number;
  /** Topics that are erasable now and may not have been when the log was made: it is brought up to that first. */
  readonly erasable?: readonly TopicSpec[];
  /** Where the Avro files are. Default: those of this package. */
  readonly schemasFolder?: URL;
  /** Told each time that the client of this thread finds damage. */
  readonly onCorruption?: OnCorruption;
}

export interface EmbeddedLog extends AsyncDisposable {
  /** The client of this thread. */
  readonly log: EventLog;
  readonly schemas: Schemas;
  /** A port to transfer to another thread, for `openEmbeddedLogClient` there. */
  connectPort(): MessagePort;
  readonly maintenance: {
    /** One pass of retention and compaction, now; ages are judged at `now` (ms). */
    clean(request?: CleanRequest): Promise<void>;
    /** Its positions are dropped and hold retention back no longer. */
    forgetGroup(group: string): Promise<void>;
  };
}

/**
 * The event log of a single process: one SQLite file, written by a thread of its own.
 * @throws GatewayError `conflict` while another process has the directory; `log_corrupt`.
 */
export async function openEmbeddedLog(options: EmbeddedLogOptions): Promise<EmbeddedLog> {
  const { directory, clock, schemasFolder, onCorruption } = options;
  const { peer, end } = await startLogThread(options);
  const connectPort = (): MessagePort => {
    const { port1: kept, port2: input } = new MessageChannel();
    // Without an answer the other end is closed, which every later call reports.
    peer.call('attach', [input], [input]).catch(() => kept.close());
    return kept;
  };
  const client = openEmbeddedLogClient({
    directory,
    port: connectPort(),
    ...(clock === undefined ? {} : { clock }),
    ...(schemasFolder === undefined ? {} : { schemasFolder }),
    ...(onCorruption === undefined ? {} : { onCorruption }),
  });
  const close = async (): Promise<void> => {
    await client[Symbol.asyncDispose]();
    await peer.call('close', []);
    await end();
  };
  let closed: Promise<void> | null = null;
  return {
    log: client.log,
    schemas: client.schemas,
    connectPort,
    maintenance: {
      clean: (request = {}) => peer.call('clean', [request]),
      forgetGroup: (group) => peer.call('forgetGroup', [group]),
    },
    [Symbol.asyncDispose]: () => (closed ??= close()),
  };
}

async function startLogThread(options: EmbeddedLogOptions): Promise<PeerThread> {
  const { directory, cleanEveryMs = 60_000, maxPages, erasable = [] } = options;
  const limits = maxPages === undefined ? {} : { maxPages };
  const { promise: failure, reject: fail } = Promise.withResolvers<never>();
  let isOpen = false;
  const thread = startPeer<LogThreadData>({
    name: 'log',
    beside: import.meta.url,
    data: { directory, cleanEveryMs, erasable, ...limits },
    failed: (error) => {
      if (isOpen) throw error;
      fail(error);
    },
  });
  const { peer, end } = thread;
  peer.on('cleanFailed', (failed: string) => options.onCleanFailure?.(failed));
  try {
    await Promise.race([peer.call('open', []), failure]);
    isOpen = true;
    return thread;
  } catch (error) {
    await end();
    throw error;
  }
}
