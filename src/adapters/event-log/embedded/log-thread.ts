import { statfsSync } from 'node:fs';
import { workerData, type MessagePort } from 'node:worker_threads';
import { GatewayError } from '#kernel/errors.ts';
import { systemClock } from '#kernel/time.ts';
import type { TopicSpec } from '#ports/event-log.ts';
import { connect } from '../../threads/rpc.ts';
import type { PeerData } from '../../threads/start-peer.ts';
import { trimWhenQuiet } from '../../threads/trim-memory.ts';
import { AcknowledgedEnds, mustHaveAcknowledged } from './acknowledged-ends.ts';
import { Checkpointer } from './checkpointer.ts';
import { Cleaner } from './cleaner.ts';
import { Committer } from './committer.ts';
import { LogServer } from './log-server.ts';
import { LogState } from './log-state.ts';
import type { CleanRequest } from './protocol.ts';
import { enterRelease, type Release } from './releases.ts';
import { RowKeys } from './row-keys.ts';
import { asLogFailure } from './sqlite-failure.ts';
import { lockDirectory, openWriteConnection } from './tables.ts';
import { upgrade } from './upgrade.ts';

/** Start data of the thread, from `openEmbeddedLog`. */
export interface LogThreadData extends PeerData {
  readonly directory: string;
  readonly cleanEveryMs: number;
  readonly maxPages?: number;
  readonly erasable: readonly TopicSpec[];
  readonly release: Release | null;
}

interface RunningLog {
  readonly server: LogServer;
  readonly cleaner: Cleaner;
  readonly committer: Committer;
  readonly state: LogState;
  close(): Promise<void>;
}

interface Reports {
  /** Of a failed pass of cleaning, or an upgrade without space. */
  readonly report: (failure: string) => void;
  readonly warn: (corruption: string) => void;
}

/** The space is freed this long after `deleteBefore`, once for all calls in between. */
const cleanSoonMs = 250;

function start(
  { directory, cleanEveryMs, maxPages, erasable, release }: LogThreadData,
  { report, warn }: Reports,
): RunningLog {
  const lock = lockDirectory(directory);
  const corruption = mustHaveAcknowledged(directory);
  if (corruption !== null) warn(corruption);
  const freeBytes = (): number => {
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize;
  };
  const rowKeys = new RowKeys(directory);
  upgrade({ directory, rowKeys, erasable, freeBytes, report });
  const db = openWriteConnection(directory, maxPages);
  if (release !== null) enterRelease(db, release);
  const ends = new AcknowledgedEnds(directory);
  const state = new LogState(db, rowKeys, ends);
  state.checkErasable();
  const checkpointer = new Checkpointer(db, directory);
  const committer: Committer = new Committer(db, state, checkpointer, freeBytes, (touched) => {
    server.publish(touched);
  });
  const cleaner = new Cleaner(db, directory, state, committer);
  let soon: NodeJS.Timeout | null = null;
  // A failed pass, for example without disk space, leaves everything intact: the next one continues.
  const clean = (): void =>
    void cleaner.clean(systemClock.now()).catch((error: unknown) => report(String(error)));
  const server = new LogServer(db, state, committer, () => {
    soon ??= setTimeout(() => {
      soon = null;
      clean();
    }, cleanSoonMs).unref();
  });
  // For a log that an earlier release has written.
  committer.runNow(() => state.rows.eraseSuperseded());
  const timer = setInterval(clean, cleanEveryMs).unref();
  const trimming = trimWhenQuiet({ free: () => db.exec('PRAGMA shrink_memory') });
  const close = async (): Promise<void> => {
    clearInterval(timer);
    trimming[Symbol.dispose]();
    if (soon !== null) clearTimeout(soon);
    await cleaner.stop();
    committer.flush();
    await checkpointer.close();
    server.close();
    db.close();
    rowKeys.close();
    ends.close();
    lock.close();
  };
  return { server, cleaner, committer, state, close };
}

const data = workerData as LogThreadData;
let running: RunningLog | null = null;

function started(): RunningLog {
  if (running !== null) return running;
  throw new GatewayError('log_unavailable', { message: 'The event log is not open.' });
}

const peer = connect(data.port, {
  open: () => {
    try {
      running = start(data, {
        report: (failure) => peer.emit('cleanFailed', failure),
        warn: (corruption) => peer.emit('endsDamaged', corruption),
      });
    } catch (error) {
      throw asLogFailure(error);
    }
  },
  attach: (port: MessagePort) => started().server.serve(port),
  clean: ({ now }: CleanRequest) => started().cleaner.clean(now ?? systemClock.now()),
  forgetGroup: (group: string) => {
    const { committer, state } = started();
    return committer.submit(() => state.forgetGroup(group));
  },
  close: async () => {
    await running?.close();
    running = null;
  },
});
