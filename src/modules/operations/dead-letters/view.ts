import type { DatabaseSync } from 'node:sqlite';
import { deadLettersTopic } from '#control-plane/message-codec.ts';
import { openTopicView, type TopicView, type TopicViewDeps } from '#control-plane/topic-view.ts';
import { json, ViewTables, where, type Row } from '#control-plane/view-tables.ts';
import type { Micros } from '#kernel/time.ts';
import type { DeadLetterValue } from '#streams/dead-letters/events.ts';
import { evolve, parked, type DeadLetter } from '#streams/dead-letters/state.ts';
import { topics } from '#streams/topics.ts';

export const deadLetterTables = {
  version: 2,
  tables: `
  CREATE TABLE letters (
    id TEXT PRIMARY KEY, consumer TEXT NOT NULL, topic TEXT NOT NULL, state TEXT NOT NULL,
    parked_at INTEGER NOT NULL, letter TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX letters_by_state ON letters (state, consumer);
  CREATE INDEX letters_by_age ON letters (parked_at);
`,
};

interface DeadLetterQuery {
  readonly state?: string | undefined;
  readonly consumer?: string | undefined;
  readonly topic?: string | undefined;
  /** Only dead letters older than this one: ids ascend with time. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** The table of dead letters; `put` applies a step of the log. */
class DeadLetterStore {
  readonly #tables: ViewTables;

  constructor(database: DatabaseSync) {
    this.#tables = new ViewTables(database);
  }

  get(id: string): DeadLetter | null {
    const row = this.#tables.one('SELECT letter FROM letters WHERE id = ?', id);
    return row === null ? null : deadLetterOf(row);
  }

  put(step: DeadLetterValue, partition: number, offset: number): void {
    const isNew = step.type === 'svc.dead-letter.added';
    const existing = this.get((isNew ? step.event_id : step.letter_id) ?? '');
    if (isNew && existing === null) this.#put(parked(step, { partition, offset }));
    if (!isNew && existing !== null) this.#put(evolve(existing, step, offset));
  }

  /** Newest first. */
  list({ before, limit, ...wanted }: DeadLetterQuery): DeadLetter[] {
    const conditions = where({
      'state = ?': wanted.state,
      'consumer = ?': wanted.consumer,
      'topic = ?': wanted.topic,
    });
    const beyond = before === undefined ? null : [before];
    const order = { columns: ['id'], newestFirst: true, beyond, limit };
    return this.#tables.page('letters', conditions, order).map(deadLetterOf);
  }

  /** Dead letters of the consumer with a requested retry, oldest first. */
  retrying(consumer: string): DeadLetter[] {
    const sql = "SELECT letter FROM letters WHERE state = 'retrying' AND consumer = ? ORDER BY id";
    return this.#tables.all(sql, consumer).map(deadLetterOf);
  }

  /** Deletes dead letters from before the time, which the log has deleted, too. */
  forgetBefore(at: Micros): void {
    this.#tables.run('DELETE FROM letters WHERE parked_at < ?', at);
  }

  #put(deadLetter: DeadLetter): void {
    const { id, consumer, topic, state, parkedAt } = deadLetter;
    const values = [id, consumer, topic, state, parkedAt, JSON.stringify(deadLetter)];
    this.#tables.run('INSERT OR REPLACE INTO letters VALUES (?, ?, ?, ?, ?, ?)', ...values);
  }
}

const deadLetterOf = (row: Row): DeadLetter => json(row['letter']) as DeadLetter;

/** The dead letters in the view of this node, and their messages. */
export type DeadLetters = TopicView<DeadLetterValue, DeadLetterStore>;

/** Opens the view of this process and resolves when it has caught up. */
export const openDeadLetters = (deps: TopicViewDeps): Promise<DeadLetters> =>
  openTopicView(deps, {
    topic: deadLettersTopic,
    keptMs: topics[deadLettersTopic].cleanup.retentionMs,
    layout: deadLetterTables,
    open: (database) => new DeadLetterStore(database),
  });
