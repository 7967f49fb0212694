import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { GatewayError } from '#kernel/errors.ts';
import { stableJson } from '#kernel/stable-json.ts';
import { isErasable, type Cleanup, type GroupPositions, type TopicSpec } from '#ports/event-log.ts';
import type { AcknowledgedEnds } from './acknowledged-ends.ts';
import type { EncodedRow } from './row-format.ts';
import type { RowKeys } from './row-keys.ts';
import { RowWriter } from './row-writer.ts';
import { setChecksumOf } from './small-tables.ts';

export interface Partition {
  readonly id: number;
  readonly topic: Topic;
  readonly number: number;
  start: number;
  next: number;
  /** Newest timestamp so far. */
  peak: number;
  /** Compacted up to this offset, and the number of messages left then. */
  cleaned: number;
  cleanedCount: number;
}

export interface Topic {
  readonly id: number;
  readonly name: string;
  readonly cleanup: Cleanup;
  readonly partitions: Partition[];
}

/**
 * Topics, partitions and writers in memory, as in their tables. Changed only inside a transaction; when that fails,
 * `load` reads everything from the tables again.
 */
export class LogState {
  readonly #topicsByName = new Map<string, Topic>();
  readonly #partitionsById = new Map<number, Partition>();
  readonly #epochs = new Map<string, number>();
  readonly #registered = new Set<string>();
  readonly #touched = new Set<Partition>();
  readonly #db: DatabaseSync;
  readonly #rowKeys: RowKeys;
  readonly #ends: AcknowledgedEnds;
  readonly rows: RowWriter;
  readonly #savePartition: StatementSync;
  readonly #saveEpoch: StatementSync;
  readonly #savePosition: StatementSync;

  constructor(db: DatabaseSync, rowKeys: RowKeys, ends: AcknowledgedEnds) {
    this.#db = db;
    this.#rowKeys = rowKeys;
    this.#ends = ends;
    this.rows = new RowWriter(db, rowKeys);
    this.#savePartition = db.prepare(`UPDATE partitions
      SET start = ?1, next = ?2, peak = ?3, cleaned = ?4, cleaned_count = ?5,
        crc = row_crc(id, topic, number, ?1, ?2, ?3, ?4, ?5) WHERE id = ?6`);
    this.#saveEpoch = db.prepare(`INSERT INTO writers VALUES (?1, ?2, row_crc(?1, ?2))
      ON CONFLICT (name) DO UPDATE SET epoch = excluded.epoch, crc = excluded.crc`);
    this.#savePosition = db.prepare(`INSERT INTO group_positions
      VALUES (?1, ?2, ?3, ?4, row_crc(?1, ?2, ?3, ?4)) ON CONFLICT (name, topic, partition)
      DO UPDATE SET position = excluded.position, crc = excluded.crc`);
    this.load();
  }

  load(): void {
    for (const map of [this.#topicsByName, this.#partitionsById, this.#epochs]) map.clear();
    this.#registered.clear();
    this.#touched.clear();
    for (const row of this.#db.prepare('SELECT id, name, cleanup FROM topics').all()) {
      const cleanup = JSON.parse(String(row['cleanup'])) as Cleanup;
      this.#addTopic({ id: Number(row['id']), name: String(row['name']), cleanup, partitions: [] });
    }
    const byId = new Map([...this.#topicsByName.values()].map((topic) => [topic.id, topic]));
    for (const row of this.#db.prepare('SELECT * FROM partitions ORDER BY topic, number').all()) {
      const topic = byId.get(Number(row['topic']));
      if (topic !== undefined) this.#addPartition(topic, row);
    }
    for (const row of this.#db.prepare('SELECT name, epoch FROM writers').all()) {
      this.#epochs.set(String(row['name']), Number(row['epoch']));
    }
    for (const row of this.#db.prepare('SELECT name, topic FROM group_topics').all()) {
      this.#registered.add(`${Number(row['topic'])} ${String(row['name'])}`);
    }
    this.#ends.write(new Set(this.#partitionsById.values()));
    const erasable = [...this.#topicsByName.values()].filter(isErasable);
    this.rows.load(erasable.flatMap(({ partitions }) => partitions.map(({ id }) => id)));
  }

  /** @throws GatewayError `log_corrupt` if a row of an erasable topic cannot be opened */
  checkErasable(): void {
    for (const { name, partitions } of [...this.#topicsByName.values()].filter(isErasable)) {
      for (const { id, number } of partitions) this.rows.mustOpen(id, `${name}/${number}`);
    }
  }

  topics(): Iterable<Topic> {
    return this.#topicsByName.values();
  }

  /** @throws GatewayError `unknown_topic` */
  topic(name: string): Topic {
    const topic = this.#topicsByName.get(name);
    if (topic !== undefined) return topic;
    throw new GatewayError('unknown_topic', { message: `The topic ${name} does not exist.` });
  }

  /** @throws GatewayError `unknown_topic` */
  partition(topic: string, number: number): Partition {
    const partition = this.topic(topic).partitions[number];
    if (partition !== undefined) return partition;
    throw new GatewayError('unknown_topic', {
      message: `The partition ${topic}/${number} does not exist.`,
    });
  }

  partitionById(id: number): Partition | undefined {
    return this.#partitionsById.get(id);
  }

  /** @throws GatewayError `conflict` when the topic exists with another number of partitions or cleanup. */
  ensureTopic(spec: TopicSpec): void {
    const cleanup = stableJson(spec.cleanup);
    const present = this.#topicsByName.get(spec.name);
    if (present !== undefined) {
      const sameCleanup = stableJson(present.cleanup) === cleanup;
      if (sameCleanup && present.partitions.length === spec.partitions) return;
      const found = `${present.partitions.length} partitions and the cleanup ${stableJson(present.cleanup)}`;
      const message = `The topic ${spec.name} has ${found}; required are ${spec.partitions} and ${cleanup}.`;
      throw new GatewayError('conflict', { message });
    }
    const insert = this.#db.prepare(
      'INSERT INTO topics (name, partitions, cleanup) VALUES (?, ?, ?)',
    );
    const id = Number(insert.run(spec.name, spec.partitions, cleanup).lastInsertRowid);
    const topic = this.#addTopic({ id, name: spec.name, cleanup: spec.cleanup, partitions: [] });
    const insertPartition = this.#db.prepare(`INSERT INTO partitions
      (topic, number, start, next, peak, cleaned, cleaned_count) VALUES (?, ?, 0, 0, 0, 0, 0)
      RETURNING *`);
    const setTopicCrc = this.#db.prepare(setChecksumOf('topics'));
    const setPartitionCrc = this.#db.prepare(setChecksumOf('partitions'));
    setTopicCrc.run(id);
    for (let number = 0; number < spec.partitions; number++) {
      const partition = this.#addPartition(topic, insertPartition.get(id, number) ?? {});
      setPartitionCrc.run(partition.id);
    }
  }

  append(partition: Partition, row: EncodedRow): void {
    const base = partition.next;
    const next = base + row.count;
    partition.peak = Math.max(partition.peak, row.newest);
    const target = { id: partition.id, isErasable: isErasable(partition.topic) };
    this.rows.insert(target, row, base, next, partition.peak);
    partition.next = next;
    this.#touched.add(partition);
  }

  /** Assigns the name to a new writer; a former one is fenced. */
  raiseEpoch(writer: string): number {
    const epoch = (this.#epochs.get(writer) ?? 0) + 1;
    this.#saveEpoch.run(writer, epoch);
    this.#epochs.set(writer, epoch);
    return epoch;
  }

  /** @throws GatewayError `writer_fenced` */
  mustHold(writer: string, epoch: number): void {
    if (this.#epochs.get(writer) === epoch) return;
    throw new GatewayError('writer_fenced', {
      message: `Another process replaced the writer ${writer}.`,
    });
  }

  /** From now on its positions limit retention. */
  registerGroup(group: string, topic: Topic): void {
    const id = `${topic.id} ${group}`;
    if (this.#registered.has(id)) return;
    this.#db.prepare('INSERT OR IGNORE INTO group_topics VALUES (?, ?)').run(group, topic.id);
    this.#registered.add(id);
  }

  forgetGroup(group: string): void {
    this.#db.prepare('DELETE FROM group_topics WHERE name = ?').run(group);
    this.#db.prepare('DELETE FROM group_positions WHERE name = ?').run(group);
    for (const topic of this.#topicsByName.values())
      this.#registered.delete(`${topic.id} ${group}`);
  }

  /** The partitions must exist: check them before anything is written. */
  movePositions(positions: GroupPositions): void {
    for (const { topic: name, partition, offset } of positions.positions) {
      const topic = this.topic(name);
      this.registerGroup(positions.group, topic);
      this.#savePosition.run(positions.group, topic.id, partition, offset);
    }
  }

  touch(partition: Partition): void {
    this.#touched.add(partition);
  }

  /** Writes the changed partitions; the last step of a transaction. */
  saveTouched(): void {
    for (const { id, start, next, peak, cleaned, cleanedCount } of this.#touched) {
      this.#savePartition.run(start, next, peak, cleaned, cleanedCount, id);
    }
  }

  /** The first step after a commit. */
  committed(): void {
    this.#rowKeys.destroyReleased();
    this.#ends.write(this.#touched);
  }

  /** The partitions changed since the last call; call after the commit. */
  takeTouched(): Partition[] {
    const touched = [...this.#touched];
    this.#touched.clear();
    return touched;
  }

  #addTopic(topic: Topic): Topic {
    this.#topicsByName.set(topic.name, topic);
    return topic;
  }

  #addPartition(topic: Topic, row: Record<string, unknown>): Partition {
    const partition: Partition = {
      id: Number(row['id']),
      topic,
      number: Number(row['number']),
      start: Number(row['start']),
      next: Number(row['next']),
      peak: Number(row['peak']),
      cleaned: Number(row['cleaned']),
      cleanedCount: Number(row['cleaned_count']),
    };
    topic.partitions[partition.number] = partition;
    this.#partitionsById.set(partition.id, partition);
    return partition;
  }
}
