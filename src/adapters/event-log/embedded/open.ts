import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { Clock } from '#kernel/time.ts';
import type { EventLog, TopicSpec } from '#ports/event-log.ts';
import type { Schemas } from '#ports/schemas.ts';
import { startPeer, type PeerData, type PeerThread } from '../../threads/start-peer.ts';
import { openEmbeddedLogClient } from './client.ts';
import type { OnCorruption } from './corruption.ts';
import type { CleanRequest } from './protocol.ts';
import type { Release } from './releases.ts';

/** Start data of `log-thread.ts`. */
export interface LogThreadData extends PeerData {
  readonly directory: string;
  readonly cleanEveryMs: number;
  readonly maxPages?: number;
  readonly erasable: readonly TopicSpec[];
  readonly release: Release | null;
}

export interface EmbeddedLogOptions {
  /** Created if missing; one process at a time. */
  readonly directory: string;
  /** Timestamps messages that have none. */
  readonly clock?: Clock;
  /** Interval between passes of retention and compaction. Default a minute. */
  readonly cleanEveryMs?: number;
  /** Called when a pass failed; the next one retries. */
  readonly onCleanFailure?: (failure: string) => void;
  /** Called when the evidence of acknowledged ends is damaged, while nothing else says that messages are missing. */
  readonly onEndsDamaged?: (corruption: string) => void;
  /** Upper bound of the log's file in pages of 8 KiB; beyond it appends fail with `log_full`. */
  readonly maxPages?: number;
  /** Topics that are erasable now and may not have been when the log was created: it is upgraded first. */
  readonly erasable?: readonly TopicSpec[];
  /** Recorded in the log; a log that needs a later one is refused. */
  readonly release?: Release;
  /** Folder of the Avro files. Default: those of this package. */
  readonly schemasFolder?: URL;
  /** Called each time that the client of this thread finds corruption. */
  readonly onCorruption?: OnCorruption;
}

export interface EmbeddedLog extends AsyncDisposable {
  /** The client of this thread. */
  readonly log: EventLog;
  readonly schemas: Schemas;
  /** A port to transfer to another thread, for `openEmbeddedLogClient` there. */
  connectPort(): MessagePort;
  readonly maintenance: {
    /** Runs a pass of retention and compaction now; `now` (ms) is the reference for ages. */
    clean(request?: CleanRequest): Promise<void>;
    /** Drops its positions, which limit retention no longer. */
    forgetGroup(group: string): Promise<void>;
  };
}

/**
 * The event log of a single process: one SQLite file, written by a thread of its own.
 * @throws GatewayError `conflict` while another process holds the directory; `log_corrupt`; `log_incomplete`.
 */
export async function openEmbeddedLog(options: EmbeddedLogOptions): Promise<EmbeddedLog> {
  const { directory, clock, schemasFolder, onCorruption } = options;
  const { peer, end } = await startLogThread(options);
  const connectPort = (): MessagePort => {
    const { port1: kept, port2: transferred } = new MessageChannel();
    // Without a reply the other end is closed, and every later call fails.
    peer.call('attach', [transferred], [transferred]).catch(() => kept.close());
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
  const { directory, cleanEveryMs = 60_000, maxPages, erasable = [], release = null } = options;
  const limits = maxPages === undefined ? {} : { maxPages };
  const { promise: failure, reject: fail } = Promise.withResolvers<never>();
  let isOpen = false;
  const thread = startPeer<LogThreadData>({
    name: 'log',
    beside: import.meta.url,
    data: { directory, cleanEveryMs, erasable, release, ...limits },
    failed: (error) => {
      if (isOpen) throw error;
      fail(error);
    },
  });
  const { peer, end } = thread;
  peer.on('cleanFailed', (failed: string) => options.onCleanFailure?.(failed));
  peer.on('endsDamaged', (corruption: string) => options.onEndsDamaged?.(corruption));
  try {
    await Promise.race([peer.call('open', []), failure]);
    isOpen = true;
    return thread;
  } catch (error) {
    await end();
    throw error;
  }
}
