import type { DatabaseSync } from 'node:sqlite';
import {
  numberOrNull,
  rowsOf,
  textOrNull,
  ViewTables,
  where,
  type ViewFilter,
} from '#control-plane/view-tables.ts';
import { joinKey } from '#kernel/ids.ts';
import type { Micros } from '#kernel/time.ts';
import { isFirstStep, type WebhookOut } from './events.ts';

export const deliveryStates = ['pending', 'delivered', 'failed', 'cancelled', 'filtered'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/** One message to one endpoint, without its body. */
export type Delivery = ReturnType<typeof deliveryOf>;

const deliveryOf = rowsOf(
  {
    messageId: String,
    endpointId: String,
    environmentUid: String,
    integration: textOrNull,
    connectionId: textOrNull,
    runId: textOrNull,
    kind: String,
    state: (value) => value as DeliveryState,
    attempts: Number,
    nextAttemptAt: numberOrNull,
    status: numberOrNull,
    errorCode: textOrNull,
    replayOf: textOrNull,
    /** Position of the message with the body. */
    partition: Number,
    offset: Number,
    createdAt: (value) => value as Micros,
    changedAt: (value) => value as Micros,
  },
  { offset: 'place' },
);

export type Attempt = ReturnType<typeof attemptOf>;

const attemptOf = rowsOf({
  attempt: Number,
  at: (value) => value as Micros,
  isDelivered: (value) => value === 1,
  status: numberOrNull,
  latencyMs: numberOrNull,
  errorCode: textOrNull,
  nextAttemptAt: numberOrNull,
});

export interface DeliveryFilter {
  readonly state?: DeliveryState | undefined;
  readonly kind?: string | undefined;
  readonly endpointId?: string | undefined;
  readonly integration?: string | undefined;
  readonly connectionId?: string | undefined;
  /** Creation time: start inclusive, end exclusive. */
  readonly since?: Micros | undefined;
  readonly until?: Micros | undefined;
  readonly ids?: readonly string[] | undefined;
  /** Deliveries that no filter kept back. */
  readonly isWanted?: boolean;
  /** Deliveries that are not replays. */
  readonly isFirst?: boolean;
  /** Deliveries that are not replays, and that no replay has delivered or is delivering. */
  readonly isOpen?: boolean;
}

export type DeliveryName = Pick<Delivery, 'messageId' | 'endpointId'>;
/** The cursor: the page starts after this delivery. */
export type DeliveryPlace = DeliveryName & Pick<Delivery, 'createdAt'>;

export const layout = {
  version: 3,
  tables: `
  CREATE TABLE deliveries (
    message_id TEXT NOT NULL, endpoint_id TEXT NOT NULL, environment_uid TEXT NOT NULL,
    integration TEXT, connection_id TEXT, run_id TEXT, kind TEXT NOT NULL, state TEXT NOT NULL,
    attempts INTEGER NOT NULL, next_attempt_at INTEGER, status INTEGER, error_code TEXT, replay_of TEXT,
    line TEXT NOT NULL, partition INTEGER NOT NULL, place INTEGER NOT NULL,
    created_at INTEGER NOT NULL, changed_at INTEGER NOT NULL,
    PRIMARY KEY (message_id, endpoint_id)
  ) WITHOUT ROWID;
  -- What a dispatcher still has to send, in order.
  CREATE INDEX deliveries_pending ON deliveries (partition, line, place) WHERE state = 'pending';
  -- What comes first of a connection.
  CREATE INDEX deliveries_first ON deliveries (partition, line, connection_id, integration, place)
    WHERE state = 'pending' AND connection_id IS NOT NULL;
  -- The order of lists.
  CREATE INDEX deliveries_list ON deliveries (environment_uid, created_at, message_id, endpoint_id);
  -- How many the filter of an endpoint kept back.
  CREATE INDEX deliveries_filtered ON deliveries (environment_uid, endpoint_id) WHERE state = 'filtered';
  CREATE INDEX deliveries_replays ON deliveries (replay_of) WHERE replay_of IS NOT NULL;
  CREATE TABLE attempts (
    message_id TEXT NOT NULL, endpoint_id TEXT NOT NULL, place INTEGER NOT NULL, attempt INTEGER NOT NULL,
    at INTEGER NOT NULL, is_delivered INTEGER NOT NULL, status INTEGER, latency_ms INTEGER, error_code TEXT,
    next_attempt_at INTEGER,
    PRIMARY KEY (message_id, endpoint_id, place)
  ) WITHOUT ROWID;
  CREATE INDEX deliveries_age ON deliveries (created_at);
`,
};

/** The identity of an endpoint: `connection` is separate for each connection. */
export type EndpointRef = Pick<
  WebhookOut,
  'environment_id' | 'endpoint_id' | 'integration' | 'connection_id'
>;

/** The key of a queue with its own slots and order: an endpoint, or the address of one connection. */
export function lineOf(endpointRef: EndpointRef): string {
  const endpoint = joinKey(endpointRef.environment_id, endpointRef.endpoint_id);
  return endpointRef.endpoint_id === 'connection'
    ? joinKey(endpoint, endpointRef.integration ?? '', endpointRef.connection_id ?? '')
    : endpoint;
}

/** The tables of deliveries and their attempts; `put` applies a step of the log. */
export class DeliveryStore {
  readonly #tables: ViewTables;

  constructor(database: DatabaseSync) {
    this.#tables = new ViewTables(database);
  }

  put(step: WebhookOut, partition: number, offset: number): void {
    if (isFirstStep(step)) this.#create(step, partition, offset);
    else this.#step(step, offset);
  }

  get({ messageId, endpointId }: DeliveryName): Delivery | null {
    const sql = 'SELECT * FROM deliveries WHERE message_id = ? AND endpoint_id = ?';
    const row = this.#tables.one(sql, messageId, endpointId);
    return row === null ? null : deliveryOf(row);
  }

  /** The message at every endpoint, and its replays. */
  ofMessage(environmentUid: string, messageId: string): Delivery[] {
    const sql = `SELECT * FROM deliveries WHERE environment_uid = ? AND (message_id = ? OR replay_of = ?)
      ORDER BY created_at, message_id, endpoint_id`;
    return this.#tables.all(sql, environmentUid, messageId, messageId).map(deliveryOf);
  }

  attemptsOf({ messageId, endpointId }: DeliveryName): Attempt[] {
    const sql = 'SELECT * FROM attempts WHERE message_id = ? AND endpoint_id = ? ORDER BY place';
    return this.#tables.all(sql, messageId, endpointId).map(attemptOf);
  }

  /** Newest first. */
  list(
    environmentUid: string,
    filter: DeliveryFilter,
    page: { readonly before?: DeliveryPlace | undefined; readonly limit: number },
  ): Delivery[] {
    const { before, limit } = page;
    return this.#page(environmentUid, filter, { newestFirst: true, beyond: before, limit });
  }

  oldest(
    environmentUid: string,
    filter: DeliveryFilter,
    page: { readonly after?: DeliveryPlace | undefined; readonly limit: number },
  ): Delivery[] {
    const { after, limit } = page;
    return this.#page(environmentUid, filter, { newestFirst: false, beyond: after, limit });
  }

  countFiltered(environmentUid: string, endpointId: string): number {
    const sql = `SELECT count(*) AS count FROM deliveries
      WHERE state = 'filtered' AND environment_uid = ? AND endpoint_id = ?`;
    return Number(this.#tables.one(sql, environmentUid, endpointId)?.['count'] ?? 0);
  }

  /** Queues with unfinished deliveries before the offset of the partition. */
  pendingLines(partition: number, before: number): { line: string; last: number }[] {
    const sql = `SELECT line, max(place) AS last FROM deliveries
      WHERE state = 'pending' AND partition = ? AND place < ? GROUP BY line`;
    const rows = this.#tables.all(sql, partition, before);
    return rows.map((row) => ({ line: String(row['line']), last: Number(row['last']) }));
  }

  /** The unfinished deliveries of the queue up to the offset, in order. */
  pending(
    partition: number,
    line: string,
    upTo: number,
    page: { readonly after: number; readonly limit: number },
  ): Delivery[] {
    const sql = `SELECT * FROM deliveries WHERE state = 'pending' AND partition = ? AND line = ?
      AND place > ? AND place <= ? ORDER BY place LIMIT ?`;
    const { after, limit } = page;
    return this.#tables.all(sql, partition, line, after, upTo, limit).map(deliveryOf);
  }

  /** The first unfinished delivery of the connection in the queue; null: there is none. */
  firstPending(
    partition: number,
    line: string,
    { integration, connectionId }: Pick<Delivery, 'integration' | 'connectionId'>,
  ): Delivery | null {
    const sql = `SELECT * FROM deliveries WHERE state = 'pending' AND partition = ? AND line = ?
      AND connection_id = ? AND integration IS ? ORDER BY place LIMIT 1`;
    const row = this.#tables.one(sql, partition, line, connectionId, integration);
    return row === null ? null : deliveryOf(row);
  }

  /** Deletes rows that are older than the retention of the log. */
  forgetBefore(at: Micros): void {
    const old = 'SELECT message_id FROM deliveries WHERE created_at < ? LIMIT 1000';
    if (this.#tables.one(old, at) === null) return;
    this.#tables.run(`DELETE FROM attempts WHERE message_id IN (${old})`, at);
    this.#tables.run(`DELETE FROM deliveries WHERE message_id IN (${old})`, at);
  }

  #create(step: WebhookOut, partition: number, offset: number): void {
    const sql = `INSERT OR IGNORE INTO deliveries VALUES
      (?, ?, ?, ?, ?, ?, ?, ?, 0, NULL, NULL, NULL, ?, ?, ?, ?, ?, ?)`;
    const { message_id, endpoint_id, environment_id, integration, connection_id, run_id } = step;
    const names = [message_id, endpoint_id, environment_id, integration, connection_id, run_id];
    const state: DeliveryState = step.action === 'filtered' ? 'filtered' : 'pending';
    const key = [lineOf(step), partition, offset];
    const times = [step.occurred_at, step.occurred_at];
    this.#tables.run(sql, ...names, step.event_kind, state, step.replay_of, ...key, ...times);
  }

  #step(step: WebhookOut, offset: number): void {
    const state = stateAfter(step);
    const { message_id, endpoint_id, attempt, status, error_code, occurred_at } = step;
    const name = [message_id, endpoint_id];
    if (step.action === 'attempt_succeeded' || step.action === 'attempt_failed') {
      const sql = 'INSERT OR IGNORE INTO attempts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)';
      const isDelivered = step.action === 'attempt_succeeded' ? 1 : 0;
      const outcome = [isDelivered, status, step.latency_ms, error_code, step.next_attempt_at];
      this.#tables.run(sql, ...name, offset, attempt, occurred_at, ...outcome);
    }
    if (state === null) return;
    // `delivered` is final.
    const sql = `UPDATE deliveries SET state = ?, attempts = max(attempts, ?), next_attempt_at = ?,
      status = ?, error_code = ?, changed_at = ?
      WHERE message_id = ? AND endpoint_id = ? AND (state = 'pending' OR ? = 'delivered')`;
    const values = [state, attempt, step.next_attempt_at, status, error_code, occurred_at];
    this.#tables.run(sql, ...values, ...name, state);
  }

  #page(
    environmentUid: string,
    filter: DeliveryFilter,
    page: { newestFirst: boolean; beyond: DeliveryPlace | undefined; limit: number },
  ): Delivery[] {
    const { newestFirst, beyond: from, limit } = page;
    const columns = ['created_at', 'message_id', 'endpoint_id'];
    const beyond = from === undefined ? null : [from.createdAt, from.messageId, from.endpointId];
    const order = { columns, newestFirst, beyond, limit };
    return this.#tables.page('deliveries', meant(environmentUid, filter), order).map(deliveryOf);
  }
}

/** Null when the step does not change the state. A failed attempt without a next one is the last. */
function stateAfter({ action, next_attempt_at: next }: WebhookOut): DeliveryState | null {
  switch (action) {
    case 'attempt_succeeded':
      return 'delivered';
    case 'attempt_failed':
      return next === null ? 'failed' : 'pending';
    case 'exhausted':
      return 'failed';
    case 'cancelled':
      return 'cancelled';
    default:
      return null;
  }
}

function meant(environmentUid: string, filter: DeliveryFilter): ViewFilter {
  const { ids, isWanted = false, isFirst = false, isOpen = false } = filter;
  const found = where({
    'environment_uid = ?': environmentUid,
    'state = ?': filter.state,
    'kind = ?': filter.kind,
    'endpoint_id = ?': filter.endpointId,
    'integration = ?': filter.integration,
    'connection_id = ?': filter.connectionId,
    'created_at >= ?': filter.since,
    'created_at < ?': filter.until,
    'message_id IN (SELECT value FROM json_each(?))': ids && JSON.stringify(ids),
  });
  if (isWanted) found.conditions.push("state <> 'filtered'");
  if (isFirst || isOpen) found.conditions.push('replay_of IS NULL');
  if (isOpen) found.conditions.push(notRecovered);
  return found;
}

const notRecovered = `NOT EXISTS (SELECT 1 FROM deliveries AS later
  WHERE later.replay_of = deliveries.message_id AND later.endpoint_id = deliveries.endpoint_id
  AND later.state IN ('pending', 'delivered'))`;
