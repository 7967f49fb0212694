import { statfsSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { workerData, type MessagePort } from 'node:worker_threads';
import { GatewayError } from '#kernel/errors.ts';
import { systemClock } from '#kernel/time.ts';
import type { TopicSpec, GroupPositions } from '#ports/event-log.ts';
import { connect, type Peer } from '../../threads/rpc.ts';
import { trimWhenQuiet } from '../../threads/trim-memory.ts';
import { AcknowledgedEnds, mustHaveAcknowledged } from './acknowledged-ends.ts';
import { Checkpointer } from './checkpointer.ts';
import { Cleaner } from './cleaner.ts';
import { Committer } from './committer.ts';
import { Groups, type MemberLink } from './groups.ts';
import { LogState, type Partition } from './log-state.ts';
import type { LogThreadData } from './open.ts';
import type { CleanRequest, ClientMethods, EncodedPlaced, Ends, JoinRequest } from './protocol.ts';
import { enterRelease, upgrade } from './releases.ts';
import { RowKeys } from './row-keys.ts';
import { registerSchema } from './schema-table.ts';
import { asLogFailure } from './sqlite-failure.ts';
import { lockDirectory, openWriteConnection } from './tables.ts';

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

/** The state of one client. */
interface Client {
  readonly peer: Peer;
  readonly watched: Set<number>;
  readonly members: Set<string>;
}

/** Serves the calls of clients: every change is an operation of the committer. */
class LogServer {
  readonly #db: DatabaseSync;
  readonly #state: LogState;
  readonly #committer: Committer;
  readonly #cleanSoon: () => void;
  readonly #groups = new Groups();
  readonly #clients = new Set<Client>();

  constructor(db: DatabaseSync, state: LogState, committer: Committer, cleanSoon: () => void) {
    this.#db = db;
    this.#state = state;
    this.#committer = committer;
    this.#cleanSoon = cleanSoon;
  }

  serve(port: MessagePort): void {
    const watched = new Set<number>();
    const members = new Set<string>();
    const methods = { ...this.#changes(), ...this.#memberships(() => client) };
    const watch = (ids: readonly number[]): Ends => {
      for (const id of ids) watched.add(id);
      return ids.map((id) => [id, this.#state.partitionById(id)?.next ?? 0]);
    };
    const client: Client = { peer: connect(port, { ...methods, watch }), watched, members };
    this.#clients.add(client);
    port.on('close', () => this.#gone(client));
  }

  /** Wakes the consumers of the partitions that grew. */
  publish(touched: readonly Partition[]): void {
    for (const { peer, watched } of this.#clients) {
      const ends: [number, number][] = [];
      for (const { id, next } of touched) if (watched.has(id)) ends.push([id, next]);
      if (ends.length > 0) peer.emit('grew', ends);
    }
  }

  close(): void {
    for (const { peer } of this.#clients) peer.close();
  }

  #changes(): Omit<ClientMethods, 'watch' | 'join' | 'leave' | 'released'> {
    const state = this.#state;
    const committer = this.#committer;
    return {
      ensureTopics: (specs: readonly TopicSpec[]) =>
        committer.submit(() => {
          for (const spec of specs) state.ensureTopic(spec);
        }),
      append: (placed) => committer.submit(() => this.#write(placed), bytesOf(placed)),
      commit: ({ writer, epoch, placed, positions }) =>
        committer.submit(() => {
          state.mustHold(writer, epoch);
          this.#check(positions);
          const offsets = this.#write(placed);
          if (positions !== undefined) state.movePositions(positions);
          return offsets;
        }, bytesOf(placed)),
      openWriter: (name) => committer.submit(() => state.raiseEpoch(name)),
      commitPositions: (positions) =>
        committer.submit(() => {
          this.#check(positions);
          state.movePositions(positions);
        }),
      deleteBefore: async (topic, number, offset) => {
        await committer.submit(() => {
          const partition = state.partition(topic, number);
          partition.start = Math.min(Math.max(partition.start, offset), partition.next);
          state.touch(partition);
        });
        this.#cleanSoon();
      },
      registerSchema: (subject, definition) =>
        committer.submit(() => registerSchema(this.#db, subject, definition)),
    };
  }

  #memberships(client: () => Client): Pick<ClientMethods, 'join' | 'leave' | 'released'> {
    return {
      join: async (request) => {
        const partitions = await this.#committer.submit(() => this.#register(request));
        const { peer, members } = client();
        const link: MemberLink = {
          assigned: (event) => peer.emit('assigned', event),
          revoked: (event) => peer.emit('revoked', event),
        };
        this.#groups.join(request, partitions, link);
        members.add(request.member);
        // The thread of the caller may have ended meanwhile: then the member would never leave.
        if (!this.#clients.has(client())) this.#groups.leave(request.member);
      },
      leave: (member) => {
        client().members.delete(member);
        this.#groups.leave(member);
      },
      released: (member, ticket) => this.#groups.released(member, ticket),
    };
  }

  /** The number of partitions common to all topics of the group. */
  #register({ group, topics }: JoinRequest): number {
    const found = topics.map((name) => this.#state.topic(name));
    const counts = new Set(found.map((topic) => topic.partitions.length));
    const [count] = counts;
    if (count === undefined || counts.size > 1) {
      const message = `The topics of group ${group} must have equally many partitions.`;
      throw new GatewayError('conflict', { message });
    }
    for (const topic of found) this.#state.registerGroup(group, topic);
    return count;
  }

  #write(placed: readonly EncodedPlaced[]): number[] {
    const partitions = placed.map(({ topic, partition }) =>
      this.#state.partition(topic, partition),
    );
    return placed.map(({ rows }, i) => {
      const partition = partitions[i] as Partition;
      const first = partition.next;
      for (const row of rows) this.#state.append(partition, row);
      return first;
    });
  }

  #check(positions: GroupPositions | undefined): void {
    for (const { topic, partition } of positions?.positions ?? []) {
      this.#state.partition(topic, partition);
    }
  }

  #gone(client: Client): void {
    this.#clients.delete(client);
    for (const member of client.members) this.#groups.leave(member);
  }
}

function bytesOf(placed: readonly EncodedPlaced[]): number {
  let bytes = 0;
  for (const { rows } of placed) for (const row of rows) bytes += row.data.byteLength;
  return bytes;
}
