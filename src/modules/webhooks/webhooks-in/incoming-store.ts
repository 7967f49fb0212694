import type { DatabaseSync } from 'node:sqlite';
import { openTopicView, type TopicView, type TopicViewDeps } from '#control-plane/topic-view.ts';
import {
  json,
  numberOrNull,
  rowsOf,
  textOrNull,
  ViewTables,
  where,
} from '#control-plane/view-tables.ts';
import type { Micros } from '#kernel/time.ts';
import { topics } from '#streams/topics.ts';
import type { WebhookIn, Disposition } from './events.ts';

export const incomingTopic = 'svc.webhooks-in.v1';

/** The received webhooks in the view of this node, built from `svc.webhooks-in.v1`. */
export type IncomingWebhooks = TopicView<WebhookIn, IncomingStore>;

/** Opens the view of this process and resolves when it has caught up. */
export const openIncoming = (deps: TopicViewDeps): Promise<IncomingWebhooks> =>
  openTopicView(deps, {
    topic: incomingTopic,
    keptMs: topics[incomingTopic].cleanup.retentionMs,
    layout,
    open: (database) => new IncomingStore(database),
  });

/** A received webhook, without its body. */
export type IncomingWebhook = ReturnType<typeof webhookOf>;

const webhookOf = rowsOf(
  {
    id: String,
    environmentUid: String,
    integration: String,
    disposition: (value) => value as Disposition,
    reason: textOrNull,
    status: numberOrNull,
    type: textOrNull,
    providerDeliveryId: textOrNull,
    connections: (value) => json(value) as readonly string[],
    runIds: (value) => json(value) as readonly string[],
    headers: (value) => json(value) as Readonly<Record<string, string>>,
    receivedAt: (value) => value as Micros,
    decidedAt: numberOrNull,
    /** Of `refused`: a lower bound of the number. */
    refusedCount: numberOrNull,
    /** Position of the message with the body. */
    partition: Number,
    offset: Number,
  },
  { offset: 'place' },
);

interface IncomingFilter {
  readonly disposition?: string | undefined;
  readonly integration?: string | undefined;
  readonly connectionId?: string | undefined;
  readonly since?: Micros | undefined;
  readonly until?: Micros | undefined;
}

/** The identity of a delivery and its repeats. */
export interface Repeat {
  readonly environmentUid: string;
  readonly integrationKey: string;
  readonly providerDeliveryId: string;
  readonly type: string | null;
  /** Ordered by the message with the outcome. */
  readonly connectionIds: readonly string[];
  /** Keyed hash of the exact bytes. */
  readonly bodyHash: string;
}

export const layout = {
  version: 3,
  tables: `
  CREATE TABLE incoming (
    id TEXT PRIMARY KEY, environment_uid TEXT NOT NULL, integration TEXT NOT NULL,
    disposition TEXT NOT NULL, reason TEXT, status INTEGER, type TEXT, provider_delivery_id TEXT,
    connections TEXT NOT NULL, run_ids TEXT NOT NULL, headers TEXT NOT NULL,
    received_at INTEGER NOT NULL, decided_at INTEGER, partition INTEGER NOT NULL, place INTEGER NOT NULL,
    body_hash TEXT NOT NULL, refused_count INTEGER
  ) WITHOUT ROWID;
  CREATE INDEX incoming_list ON incoming (environment_uid, received_at, id);
  CREATE INDEX incoming_known ON incoming (environment_uid, integration, provider_delivery_id)
    WHERE provider_delivery_id IS NOT NULL;
  CREATE INDEX incoming_age ON incoming (received_at);
`,
};

/** The table of received webhooks; `put` applies a step of the log. */
class IncomingStore {
  readonly #tables: ViewTables;

  constructor(database: DatabaseSync) {
    this.#tables = new ViewTables(database);
  }

  put(step: WebhookIn, partition: number, offset: number): void {
    if (step.disposition === 'received') this.#receive(step, partition, offset);
    else if (step.disposition === 'refused') this.#refuse(step, partition, offset);
    else this.#decide(step);
  }

  get(environmentUid: string, id: string): IncomingWebhook | null {
    const sql = 'SELECT * FROM incoming WHERE environment_uid = ? AND id = ?';
    const row = this.#tables.one(sql, environmentUid, id);
    return row === null ? null : webhookOf(row);
  }

  /** Newest first. */
  list(
    environmentUid: string,
    filter: IncomingFilter,
    page: {
      readonly before?: { readonly receivedAt: Micros; readonly id: string } | undefined;
      readonly limit: number;
    },
  ): IncomingWebhook[] {
    const { before, limit } = page;
    const wanted = where({
      'environment_uid = ?': environmentUid,
      'disposition = ?': filter.disposition,
      'integration = ?': filter.integration,
      'EXISTS (SELECT 1 FROM json_each(connections) WHERE value = ?)': filter.connectionId,
      'received_at >= ?': filter.since,
      'received_at < ?': filter.until,
    });
    const columns = ['received_at', 'id'];
    const beyond = before === undefined ? null : [before.receivedAt, before.id];
    const order = { columns, newestFirst: true, beyond, limit };
    return this.#tables.page('incoming', wanted, order).map(webhookOf);
  }

  /** A delivery since the time that this one repeats; null = none. */
  taken(
    { environmentUid, integrationKey, ...same }: Repeat,
    since: Micros,
  ): IncomingWebhook | null {
    const sql = `SELECT * FROM incoming WHERE environment_uid = ? AND integration = ?
      AND provider_delivery_id = ? AND type IS ? AND connections = ? AND body_hash = ?
      AND received_at >= ? AND disposition IN ('accepted', 'reprocessed') LIMIT 1`;
    const names = [environmentUid, integrationKey, same.providerDeliveryId, same.type];
    const connections = JSON.stringify(same.connectionIds);
    const row = this.#tables.one(sql, ...names, connections, same.bodyHash, since);
    return row === null ? null : webhookOf(row);
  }

  /** Deletes rows that are older than the retention of the log. */
  forgetBefore(at: Micros): void {
    this.#tables.run('DELETE FROM incoming WHERE received_at < ?', at);
  }

  #receive(step: WebhookIn, partition: number, offset: number): void {
    const sql = `INSERT OR IGNORE INTO incoming VALUES
      (?, ?, ?, 'received', NULL, NULL, NULL, NULL, '[]', '[]', ?, ?, NULL, ?, ?, ?, NULL)`;
    const { delivery_id, environment_id, integration, headers, received_at, body_hash } = step;
    const names = [delivery_id, environment_id, integration ?? ''];
    const position = [partition, offset];
    this.#tables.run(sql, ...names, JSON.stringify(headers), received_at, ...position, body_hash);
  }

  /** One row per integration and hour, with the last stored number. */
  #refuse(step: WebhookIn, partition: number, offset: number): void {
    const sql = `INSERT INTO incoming VALUES
      (?, ?, ?, 'refused', ?, ?, NULL, NULL, '[]', '[]', '{}', ?, ?, ?, ?, '', ?)
      ON CONFLICT (id) DO UPDATE SET decided_at = excluded.decided_at,
        refused_count = max(refused_count, excluded.refused_count)`;
    const { delivery_id, environment_id, integration, reason, status, refused_count } = step;
    const names = [delivery_id, environment_id, integration ?? '', reason, status];
    const position = [step.received_at, step.occurred_at, partition, offset];
    this.#tables.run(sql, ...names, ...position, refused_count);
  }

  #decide(step: WebhookIn): void {
    const sql = `UPDATE incoming SET disposition = ?, reason = ?, status = ?, type = ?,
      provider_delivery_id = ?, connections = ?, run_ids = ?, decided_at = ? WHERE id = ?`;
    const { disposition, reason, status, subscription, provider_delivery_id } = step;
    const values = [disposition, reason, status, subscription, provider_delivery_id];
    const lists = [JSON.stringify(step.matched_connections), JSON.stringify(step.run_ids)];
    this.#tables.run(sql, ...values, ...lists, step.occurred_at, step.delivery_id);
  }
}
