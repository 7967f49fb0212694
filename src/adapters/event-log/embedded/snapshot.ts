import { CannotStart } from '#kernel/cannot-start.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { Batch, LogSnapshot, Position, TopicSpec } from '#ports/event-log.ts';
import { mustHaveAcknowledged } from './acknowledged-ends.ts';
import { readPlace } from './client.ts';
import { isLogCorruption } from './corruption.ts';
import { LogReader, type LogPartition } from './log-reader.ts';
import { checkSchemas } from './schema-table.ts';
import { addRowCrc, checkSmallTables } from './small-tables.ts';
import { asLogFailure } from './sqlite-failure.ts';
import { formatOf, formatVersions, openReadConnection } from './tables.ts';

type EmbeddedSnapshot = LogSnapshot & Disposable;

interface SnapshotOptions {
  readonly directory: string;
  /** Topics whose rows are read at once: their keys may be destroyed while the snapshot is open. */
  readonly erasable: readonly TopicSpec[];
}

const batchBytes = 4 * 1024 ** 2;
/** A key that is destroyed between two reads looks like damage; damage is there in every attempt. */
const attemptsMax = 5;

/**
 * Opens the log of the folder as of now, and writes nothing; the service may be running. Until it is disposed of, the
 * write-ahead file of the running service keeps what is committed later.
 * @throws GatewayError `log_corrupt`, `log_incomplete`; CannotStart if this release has not opened the log
 */
export async function openLogSnapshot(options: SnapshotOptions): Promise<EmbeddedSnapshot> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await open(options);
    } catch (error) {
      if (!isLogCorruption(error) || attempt === attemptsMax) throw error;
    }
  }
}

async function open({ directory, erasable }: SnapshotOptions): Promise<EmbeddedSnapshot> {
  mustHaveAcknowledged(directory);
  checkTables(directory);
  const reader = new LogReader(directory, () => undefined);
  try {
    reader.hold();
    const kept = new Map<string, readonly Batch[]>();
    for (const { name } of erasable) {
      for (const { partition } of reader.topic(name)) {
        const start = { topic: name, partition, offset: 0 };
        kept.set(`${name}/${partition}`, await Array.fromAsync(readHeld(reader, start)));
      }
    }
    return snapshotOf(reader, kept);
  } catch (error) {
    reader.close();
    throw asLogFailure(error);
  }
}

/** @throws CannotStart, GatewayError `log_corrupt` */
function checkTables(directory: string): void {
  const db = openReadConnection(directory);
  try {
    if (formatOf(db) !== formatVersions.current) {
      const message = `The event log in ${directory} has another format: start the service of this release on it first.`;
      throw new CannotStart(message);
    }
    // Their indexes have no checksums.
    for (const table of ['topics', 'partitions', 'group_positions', 'schemas']) {
      const found = db.prepare(`PRAGMA integrity_check(${table})`).get()?.['integrity_check'];
      if (found === 'ok') continue;
      const message = `The event log is corrupt: its table ${table}: ${String(found)}.`;
      throw new GatewayError('log_corrupt', { message });
    }
    addRowCrc(db);
    checkSmallTables(db);
    checkSchemas(db);
  } catch (error) {
    throw asLogFailure(error);
  } finally {
    db.close();
  }
}

function snapshotOf(
  reader: LogReader,
  kept: ReadonlyMap<string, readonly Batch[]>,
): EmbeddedSnapshot {
  const startOf = (partition: LogPartition): number => {
    const batches = kept.get(`${partition.topic}/${partition.partition}`);
    if (batches === undefined) return reader.startOffset(partition);
    const first = batches.flatMap(({ messages }) => messages.slice(0, 1))[0];
    return first?.offset ?? reader.endOffset(partition);
  };
  return {
    identity: () => attempt(() => reader.identity()),
    startOffsets: (topic) => attempt(() => reader.topic(topic).map(startOf)),
    endOffsets: (topic) => attempt(() => reader.topic(topic).map((one) => reader.endOffset(one))),
    committed: (group, topic) => attempt(() => reader.committed(group, topic)),
    async *read(from) {
      const batches = kept.get(`${from.topic}/${from.partition}`);
      if (batches === undefined) yield* readHeld(reader, from);
      for (const batch of batches ?? []) {
        yield { ...batch, messages: batch.messages.filter(({ offset }) => offset >= from.offset) };
      }
    },
    schema: (id) => reader.schema(id),
    [Symbol.dispose]: () => reader.close(),
  };
}

async function attempt<T>(read: () => T): Promise<T> {
  try {
    return read();
  } catch (error) {
    throw asLogFailure(error);
  }
}

function readHeld(reader: LogReader, { topic, partition, offset }: Position) {
  const place = reader.place(topic, partition);
  return readPlace({ partition: place, offset }, reader.endOffset(place), {
    reader,
    maxBytes: batchBytes,
  });
}
