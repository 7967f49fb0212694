import { randomUUID } from 'node:crypto';
import { setImmediate as breathe, setTimeout as sleep } from 'node:timers/promises';
import type { MessagePort } from 'node:worker_threads';
import { GatewayError } from '#kernel/errors.ts';
import { systemClock, type Clock } from '#kernel/time.ts';
import type {
  Batch,
  GroupPositions,
  EventLog,
  FollowOptions,
  GroupHandler,
  Membership,
  PartitionMessages,
  Position,
  TopicSpec,
  TransactionalWriter,
} from '#ports/event-log.ts';
import type { Schemas } from '#ports/schemas.ts';
import { connect, type Peer } from '../../threads/rpc.ts';
import { openSchemas, type Registry } from '../avro-codec.ts';
import { isLogCorruption, type OnCorruption } from './corruption.ts';
import { EncodeQueue } from './encode-queue.ts';
import { releaseTimeoutMs } from './groups.ts';
import { LogReader, type Cursor, type LogPartition, Watcher } from './log-reader.ts';
import type {
  PartitionAssignment,
  EncodedPlaced,
  JoinRequest,
  PartitionRevocation,
} from './protocol.ts';

interface PartitionPosition {
  readonly partition: LogPartition;
  readonly offset: number;
}

interface FollowContext {
  readonly reader: LogReader;
  readonly watcher: Watcher;
  readonly maxBytes: number;
}

const openCursor = ({ partition, offset }: PartitionPosition): Cursor => ({
  partition,
  position: offset,
  pending: [],
  afterPending: offset,
});

/**
 * Merges the partitions round robin, one batch of each that has messages; reads only on demand. Yields to other
 * work of the thread between batches.
 */
async function* followPlaces(
  from: readonly PartitionPosition[],
  { reader, watcher, maxBytes }: FollowContext,
  signal: AbortSignal,
): AsyncGenerator<Batch> {
  const ends = await watcher.watch(from.map(({ partition }) => partition.id));
  using bell = watcher.bell(signal);
  // Round robin: a partition that returned a batch goes to the end of the queue.
  const cursors = from.map(openCursor);
  while (!signal.aborted) {
    bell.reset();
    const index = cursors.findIndex((cursor) => hasMore(cursor, ends.get(cursor.partition.id)));
    if (index < 0) {
      await bell.rung();
      continue;
    }
    const [cursor] = cursors.splice(index, 1) as [Cursor];
    cursors.push(cursor);
    await breathe();
    // The signal may have aborted during the pause.
    if ((signal as { aborted: boolean }).aborted) return;
    const batch = reader.fetch(cursor, maxBytes);
    if (batch !== null) yield batch;
  }
}

const hasMore = (cursor: Cursor, end = 0): boolean =>
  cursor.pending.length > 0 || cursor.position < end;

/** Reads from the offset to `end`, the end at the time of the call. */
export async function* readPlace(
  from: PartitionPosition,
  end: number,
  { reader, maxBytes }: Omit<FollowContext, 'watcher'>,
  signal?: AbortSignal,
): AsyncGenerator<Batch> {
  const cursor = openCursor(from);
  while (hasMore(cursor, end) && signal?.aborted !== true) {
    const batch = reader.fetch(cursor, maxBytes, end);
    if (batch === null) return;
    yield batch;
    await breathe();
  }
}

interface EmbeddedLogClientOptions {
  readonly directory: string;
  /** From `connectPort()` of the log that the main thread opened. */
  readonly port: MessagePort;
  /** Timestamps messages that have none. */
  readonly clock?: Clock;
  /** Folder of the Avro files. Default: those of this package. */
  readonly schemasFolder?: URL;
  /** Called for each corruption that a read or a write finds; the caller gets `log_corrupt`. */
  readonly onCorruption?: OnCorruption;
}

interface EmbeddedLogClient extends AsyncDisposable {
  readonly log: EventLog;
  readonly schemas: Schemas;
}

const appendTimeoutMs = 30_000;
const batchBytesDefault = 4 * 1024 ** 2;

/** A client of the embedded log, in any thread of the process that opened it. */
export function openEmbeddedLogClient(options: EmbeddedLogClientOptions): EmbeddedLogClient {
  const log = new ClientLog(options);
  const registry: Registry = {
    register: (subject, definition) => log.call('registerSchema', [subject, definition]),
    definition: (id) => log.reader.schema(id),
  };
  const schemas = openSchemas(registry, options.schemasFolder);
  return { log, schemas, [Symbol.asyncDispose]: () => log[Symbol.asyncDispose]() };
}

class ClientLog implements EventLog {
  readonly erasureMs = 0;
  readonly reader: LogReader;
  readonly #port: MessagePort;
  readonly #peer: Peer;
  readonly #watcher: Watcher;
  readonly #queue: EncodeQueue;
  readonly #members = new Map<string, Member>();
  readonly #onCorruption: OnCorruption;
  #closed = false;

  constructor(options: EmbeddedLogClientOptions) {
    const {
      directory,
      port,
      clock = systemClock,
      onCorruption: onCorruption = () => undefined,
    } = options;
    this.#onCorruption = onCorruption;
    this.reader = new LogReader(directory, onCorruption);
    this.#port = port;
    this.#peer = connect(port);
    this.#watcher = new Watcher(this.#peer);
    this.#queue = new EncodeQueue(clock, (topic) => this.#open().isKept(topic));
    this.#peer.on('assigned', (event: PartitionAssignment) =>
      this.#members.get(event.member)?.assigned(event),
    );
    this.#peer.on('revoked', (event: PartitionRevocation) =>
      this.#members.get(event.member)?.revoked(event),
    );
    port.on('close', () => this.#ended());
  }

  call<T>(method: string, args: readonly unknown[], transfer: readonly ArrayBuffer[] = []) {
    if (this.#closed) return Promise.reject(logClosed());
    return this.#peer.call<T>(method, args, transfer).catch((error: unknown) => {
      if (isLogCorruption(error)) this.#onCorruption(error.message);
      throw error;
    });
  }

  async identity(): Promise<string> {
    return this.#open().identity();
  }

  ensureTopics(specs: readonly TopicSpec[]): Promise<void> {
    return this.call('ensureTopics', [specs]);
  }

  async partitions(topic: string): Promise<number> {
    return this.#open().topic(topic).length;
  }

  append(batch: readonly PartitionMessages[], options: { readonly timeoutMs?: number } = {}) {
    return this.#send(batch, options.timeoutMs ?? appendTimeoutMs, 'append', (placed) => placed);
  }

  async openWriter(name: string): Promise<TransactionalWriter> {
    const epoch = await this.call<number>('openWriter', [name]);
    let disposed = false;
    return {
      commit: (batch, positions) => {
        if (disposed) return Promise.reject(logClosed());
        const request = {
          writer: name,
          epoch,
          ...(positions === undefined ? {} : { positions }),
        };
        return this.#send(batch, appendTimeoutMs, 'commit', (placed) => ({ ...request, placed }));
      },
      [Symbol.asyncDispose]: async () => {
        disposed = true;
      },
    };
  }

  async startOffset(topic: string, partition: number): Promise<number> {
    return this.#open().startOffset(this.reader.place(topic, partition));
  }

  async endOffset(topic: string, partition: number): Promise<number> {
    return this.#open().endOffset(this.reader.place(topic, partition));
  }

  async startOffsets(topic: string): Promise<readonly number[]> {
    const reader = this.#open();
    return reader.topic(topic).map((partition) => reader.startOffset(partition));
  }

  async endOffsets(topic: string): Promise<readonly number[]> {
    const reader = this.#open();
    return reader.topic(topic).map((partition) => reader.endOffset(partition));
  }

  async offsetAt(topic: string, partition: number, timestamp: number): Promise<number> {
    return this.#open().offsetAt(this.reader.place(topic, partition), timestamp);
  }

  follow(from: readonly Position[], options: FollowOptions): AsyncIterable<Batch> {
    const places = from.map(({ topic, partition, offset }) => ({
      partition: this.#open().place(topic, partition),
      offset,
    }));
    const { reader } = this;
    const watcher = this.#watcher;
    const maxBytes = options.maxBytes ?? batchBytesDefault;
    return followPlaces(places, { reader, watcher, maxBytes }, options.signal);
  }

  read(from: Position, options: Partial<FollowOptions> = {}): AsyncIterable<Batch> {
    const partition = this.#open().place(from.topic, from.partition);
    const end = this.reader.endOffset(partition);
    const { signal, maxBytes = batchBytesDefault } = options;
    return readPlace(
      { partition, offset: from.offset },
      end,
      { reader: this.reader, maxBytes },
      signal,
    );
  }

  async join(group: string, topics: readonly string[], handler: GroupHandler): Promise<Membership> {
    for (const [id, { isLeaving }] of this.#members) if (isLeaving) this.#members.delete(id);
    const id = randomUUID();
    const member = new Member(id, group, this.#peer, handler);
    this.#members.set(id, member);
    try {
      const request: JoinRequest = { member: id, group, topics };
      await this.call('join', [request]);
    } catch (error) {
      this.#members.delete(id);
      throw error;
    }
    return member;
  }

  async committed(group: string, topic: string): Promise<ReadonlyMap<number, number>> {
    return this.#open().committed(group, topic);
  }

  commit(positions: GroupPositions): Promise<void> {
    return this.call('commitPositions', [positions]);
  }

  deleteBefore({ topic, partition, offset }: Position): Promise<void> {
    return this.call('deleteBefore', [topic, partition, offset]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return;
    await Promise.all([...this.#members.values()].map((member) => member[Symbol.asyncDispose]()));
    this.#ended();
    this.#port.close();
  }

  #send(
    batch: readonly PartitionMessages[],
    timeoutMs: number,
    method: 'append' | 'commit',
    append: (placed: readonly EncodedPlaced[]) => unknown,
  ): Promise<Position[]> {
    const answer = this.#queue.run(batch, (placed, transfer) =>
      this.call<number[]>(method, [append(placed)], transfer),
    );
    return withDeadline(answer, timeoutMs).then((offsets) =>
      batch.map(({ topic, partition }, i) => ({ topic, partition, offset: offsets[i] ?? 0 })),
    );
  }

  /** The reader, if open. */
  #open(): LogReader {
    if (this.#closed) throw logClosed();
    return this.reader;
  }

  #ended(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#watcher.end();
    for (const member of this.#members.values()) member.lost();
    this.reader.close();
  }
}

const logClosed = (): GatewayError =>
  new GatewayError('log_unavailable', { message: 'The event log was closed.' });

/** @throws GatewayError `log_unavailable` when the reply does not arrive in time; a later one is ignored. */
function withDeadline<T>(answer: Promise<T>, timeoutMs: number): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => {
      const message = `The event log did not acknowledge within ${timeoutMs} ms.`;
      reject(new GatewayError('log_unavailable', { message }));
    }, timeoutMs);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** A member's side of a group: calls its handler, sequentially. */
class Member implements Membership {
  readonly id: string;
  readonly group: string;
  readonly #peer: Peer;
  readonly #handler: GroupHandler;
  readonly #held = new Set<number>();
  #calls: Promise<void> = Promise.resolve();
  #leaving: Promise<void> | null = null;

  constructor(id: string, group: string, peer: Peer, handler: GroupHandler) {
    this.id = id;
    this.group = group;
    this.#peer = peer;
    this.#handler = handler;
  }

  /** Has left or is leaving: accepts no more partitions. */
  get isLeaving(): boolean {
    return this.#leaving !== null;
  }

  assigned({ partitions, generation }: PartitionAssignment): void {
    if (this.#leaving !== null) return;
    for (const partition of partitions) this.#held.add(partition);
    this.#calls = this.#calls.then(() => this.#handler.assigned(partitions, generation));
  }

  revoked({ partitions, ticket }: PartitionRevocation): void {
    if (this.#leaving !== null) return;
    for (const partition of partitions) this.#held.delete(partition);
    this.#calls = this.#calls
      .then(() => this.#handler.revoked(partitions))
      .finally(() => void this.#peer.call('released', [this.id, ticket]).catch(() => undefined));
  }

  /** The log has ended: nothing is held any longer. */
  lost(): void {
    this.#leaving ??= this.#revokeAll();
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#leaving ??= this.#leave();
    return this.#leaving;
  }

  async #leave(): Promise<void> {
    try {
      await Promise.race([this.#revokeAll(), sleep(releaseTimeoutMs, undefined, { ref: false })]);
    } finally {
      await this.#peer.call('leave', [this.id]).catch(() => undefined);
    }
  }

  async #revokeAll(): Promise<void> {
    await this.#calls;
    const partitions = [...this.#held].sort((a, b) => a - b);
    this.#held.clear();
    if (partitions.length > 0) await this.#handler.revoked(partitions);
  }
}
