import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';

/** The fields of a change that a table needs; see docs/reference/http.md#changes for all. */
interface Change {
  readonly connection_uid: string;
  readonly connection_id: string | null;
  readonly model: string;
  readonly variant: string;
  readonly record_id: string;
  readonly action: string;
  readonly record: unknown;
}

interface Page {
  readonly changes: readonly Change[];
  readonly cursor: string;
  readonly has_more: boolean;
}

const pageSize = 1000;
const waitSeconds = 20;
const tryAgainMs = 1000;

/** A subscription of the gateway. */
class Subscription {
  readonly #url: string;
  readonly #key: string;
  readonly #path: string;

  constructor(url: string, key: string, name: string) {
    this.#url = url;
    this.#key = key;
    this.#path = `/subscriptions/${encodeURIComponent(name)}`;
  }

  async create(): Promise<void> {
    await this.#call('PUT', '', { from: 'start' });
  }

  async changes(waitS: number): Promise<Page> {
    return (await this.#call('GET', `/changes?limit=${pageSize}&wait_s=${waitS}`)) as Page;
  }

  async commit(cursor: string): Promise<void> {
    await this.#call('POST', '/commit', { cursor });
  }

  /** Each call may be repeated: a gateway that is away or busy is asked again. @throws Error for a refusal */
  async #call(method: string, path: string, body?: object): Promise<unknown> {
    const headers = { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json' };
    const options = body === undefined ? {} : { body: JSON.stringify(body) };
    for (;;) {
      const url = `${this.#url}${this.#path}${path}`;
      const response = await fetch(url, { method, headers, ...options }).catch(() => null);
      const text = await response?.text().catch(() => null);
      if (response?.ok === true && typeof text === 'string') {
        return text === '' ? null : (JSON.parse(text) as unknown);
      }
      const isTemporary =
        response === null || response.ok || response.status === 429 || response.status >= 500;
      if (!isTemporary) throw new Error(`${method} ${path}: ${response.status} ${text}`);
      await wait(tryAgainMs);
    }
  }
}

/** The current records, in SQLite. */
class RecordsTable {
  readonly #database: DatabaseSync;

  constructor(file: string) {
    this.#database = new DatabaseSync(file);
    this.#database.exec(`CREATE TABLE IF NOT EXISTS records (
      connection_uid TEXT, model TEXT, variant TEXT, record_id TEXT, connection_id TEXT, record TEXT,
      PRIMARY KEY (connection_uid, model, variant, record_id)) WITHOUT ROWID`);
  }

  /** All of them or none. What was applied before changes nothing. */
  apply(changes: readonly Change[]): void {
    const put = this.#database.prepare('REPLACE INTO records VALUES (?, ?, ?, ?, ?, ?)');
    const remove = this.#database.prepare(
      'DELETE FROM records WHERE (connection_uid, model, variant, record_id) = (?, ?, ?, ?)',
    );
    this.#database.exec('BEGIN');
    for (const change of changes) {
      const { connection_uid: uid, model, variant, record_id: id, action } = change;
      if (action === 'deleted' || action === 'purged') remove.run(uid, model, variant, id);
      else put.run(uid, model, variant, id, change.connection_id, JSON.stringify(change.record));
    }
    this.#database.exec('COMMIT');
  }
}

const {
  SVC_URL: url = 'http://127.0.0.1:3003',
  SVC_KEY: key = '',
  SUBSCRIPTION: name = 'records-table',
  DATABASE: file = 'records.db',
} = process.env;
const isOnce = process.argv.includes('--once');

const subscription = new Subscription(url, key, name);
const table = new RecordsTable(file);
await subscription.create();
let count = 0;
for (;;) {
  const {
    changes,
    cursor,
    has_more: hasMore,
  } = await subscription.changes(isOnce ? 0 : waitSeconds);
  table.apply(changes);
  await subscription.commit(cursor);
  count += changes.length;
  if (changes.length > 0) console.log(`${count} changes`);
  if (isOnce && changes.length === 0 && !hasMore) break;
}
