import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Micros } from '../../kernel/time.ts';
import type { Disposition, WebhookIn } from './events.ts';

/** What is known of a webhook that came in, without its body. */
export interface IncomingWebhook {
  readonly id: string;
  readonly environmentUid: string;
  readonly integration: string;
  readonly disposition: Disposition;
  readonly reason: string | null;
  readonly status: number | null;
  readonly type: string | null;
  readonly providerDeliveryId: string | null;
  readonly connections: readonly string[];
  readonly runIds: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly receivedAt: Micros;
  readonly decidedAt: Micros | null;
  /** Where the message with the body lies. */
  readonly partition: number;
  readonly offset: number;
}

export interface IncomingFilter {
  readonly disposition?: string | undefined;
  readonly integration?: string | undefined;
  readonly connectionId?: string | undefined;
  readonly since?: Micros | undefined;
  readonly until?: Micros | undefined;
}

export const layout = {
  version: 1,
  tables: `
  CREATE TABLE incoming (
    id TEXT PRIMARY KEY, environment_uid TEXT NOT NULL, integration TEXT NOT NULL,
    disposition TEXT NOT NULL, reason TEXT, status INTEGER, type TEXT, provider_delivery_id TEXT,
    connections TEXT NOT NULL, run_ids TEXT NOT NULL, headers TEXT NOT NULL,
    received_at INTEGER NOT NULL, decided_at INTEGER, partition INTEGER NOT NULL, place INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX incoming_list ON incoming (environment_uid, received_at, id);
  CREATE INDEX incoming_known ON incoming (environment_uid, integration, provider_delivery_id)
    WHERE provider_delivery_id IS NOT NULL;
  CREATE INDEX incoming_age ON incoming (received_at);
`,
};

/** The table of webhooks that came in; `put` takes in a step that the log holds. */
export class IncomingStore {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  put(step: WebhookIn, partition: number, offset: number): void {
    if (step.disposition === 'received') this.#receive(step, partition, offset);
    else this.#decide(step);
  }

  get(environmentUid: string, id: string): IncomingWebhook | null {
    const sql = 'SELECT * FROM incoming WHERE environment_uid = ? AND id = ?';
    const row = this.#prepared(sql).get(environmentUid, id);
    return row === undefined ? null : webhookOf(row);
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
    const conditions = ['environment_uid = ?'];
    const values: (string | number)[] = [environmentUid];
    const wanted = {
      'disposition = ?': filter.disposition,
      'integration = ?': filter.integration,
      'EXISTS (SELECT 1 FROM json_each(connections) WHERE value = ?)': filter.connectionId,
      'received_at >= ?': filter.since,
      'received_at < ?': filter.until,
    };
    for (const [condition, value] of Object.entries(wanted)) {
      if (value === undefined) continue;
      conditions.push(condition);
      values.push(value);
    }
    if (page.before !== undefined) {
      conditions.push('(received_at, id) < (?, ?)');
      values.push(page.before.receivedAt, page.before.id);
    }
    const sql = `SELECT * FROM incoming WHERE ${conditions.join(' AND ')}
      ORDER BY received_at DESC, id DESC LIMIT ?`;
    return this.#prepared(sql)
      .all(...values, page.limit)
      .map(webhookOf);
  }

  /** One that was taken since the time under the provider's own id; null = none. */
  taken(
    of: { readonly environmentUid: string; readonly integrationKey: string },
    providerDeliveryId: string,
    since: Micros,
  ): IncomingWebhook | null {
    const sql = `SELECT * FROM incoming WHERE environment_uid = ? AND integration = ?
      AND provider_delivery_id = ? AND received_at >= ?
      AND disposition IN ('accepted', 'unmatched', 'reprocessed') LIMIT 1`;
    const { environmentUid, integrationKey } = of;
    const row = this.#prepared(sql).get(environmentUid, integrationKey, providerDeliveryId, since);
    return row === undefined ? null : webhookOf(row);
  }

  /** Forgets what is older than the log keeps. */
  forgetBefore(at: Micros): void {
    this.#prepared('DELETE FROM incoming WHERE received_at < ?').run(at);
  }

  #receive(step: WebhookIn, partition: number, offset: number): void {
    const sql = `INSERT OR IGNORE INTO incoming VALUES
      (?, ?, ?, 'received', NULL, NULL, NULL, NULL, '[]', '[]', ?, ?, NULL, ?, ?)`;
    const { delivery_id, environment_id, integration, headers, received_at } = step;
    const names = [delivery_id, environment_id, integration ?? ''];
    this.#prepared(sql).run(...names, JSON.stringify(headers), received_at, partition, offset);
  }

  #decide(step: WebhookIn): void {
    const sql = `UPDATE incoming SET disposition = ?, reason = ?, status = ?, type = ?,
      provider_delivery_id = ?, connections = ?, run_ids = ?, decided_at = ? WHERE id = ?`;
    const { disposition, reason, status, subscription, provider_delivery_id } = step;
    const said = [disposition, reason, status, subscription, provider_delivery_id];
    const lists = [JSON.stringify(step.matched_connections), JSON.stringify(step.run_ids)];
    this.#prepared(sql).run(...said, ...lists, step.occurred_at, step.delivery_id);
  }

  #prepared(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const prepared = this.#database.prepare(sql);
    this.#statements.set(sql, prepared);
    return prepared;
  }
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);
const numberOrNull = (value: unknown): number | null => (typeof value === 'number' ? value : null);

const webhookOf = (row: Readonly<Record<string, unknown>>): IncomingWebhook => ({
  id: String(row['id']),
  environmentUid: String(row['environment_uid']),
  integration: String(row['integration']),
  disposition: row['disposition'] as Disposition,
  reason: textOrNull(row['reason']),
  status: numberOrNull(row['status']),
  type: textOrNull(row['type']),
  providerDeliveryId: textOrNull(row['provider_delivery_id']),
  connections: JSON.parse(String(row['connections'])) as string[],
  runIds: JSON.parse(String(row['run_ids'])) as string[],
  headers: JSON.parse(String(row['headers'])) as Record<string, string>,
  receivedAt: Number(row['received_at']),
  decidedAt: numberOrNull(row['decided_at']),
  partition: Number(row['partition']),
  offset: Number(row['place']),
});
