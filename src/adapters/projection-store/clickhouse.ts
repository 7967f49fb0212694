import { GatewayError } from '#kernel/errors.ts';
import type {
  CallerQuery,
  CallerViews,
  Insert,
  QueryClass,
  QueryableStore,
  SqlParams,
  TableDefinition,
  ViewDefinition,
} from '#ports/projection-store.ts';
import { callerSettings, runOn, type ConnectionSettings } from './caller-query.ts';
import {
  callerDatabase,
  dropDatabase,
  refuseUngranted,
  shownNames,
  showStatements,
  shownVersions,
} from './caller-views.ts';
import type { Connection } from './connection.ts';
import { openEmbedded, openEmbeddedReader, startEngine } from './embedded.ts';
import { attempt, type OnPartDamaged } from './engine-errors.ts';
import { openFolder, type OnTablesDamaged } from './open-folder.ts';
import { UnusableServer, parseServerAddress } from './server-address.ts';
import { checkServer, onCluster, openServer } from './server.ts';

/** How long a replicated table remembers tokens; their number is a setting of the table. */
const tokensKeptS = 7 * 86_400;

/**
 * The in-process engine deletes merged parts some time after the merge, without checking that the result is on
 * disk: after a minute the system has written it. It deletes them every second: at the default of 30 s these would
 * be some ten thousand files at a time, and on a disk with discard every insert and every append to the log would
 * wait for seconds. Replicated tables clean up together, through their keeper, and keep parts for minutes.
 */
const mergedParts = {
  old_parts_lifetime: 60,
  cleanup_delay_period: 1,
  cleanup_delay_period_random_add: 0,
  max_cleanup_delay_period: 1,
};

/**
 * The statement that creates a missing table or view: on this node, or with `cluster` on all its nodes, each a
 * replica. Path and replica of a replicated table are the server's defaults (`default_replica_path`).
 */
export function createStatement(
  definition: TableDefinition | ViewDefinition,
  cluster: string | null,
): string {
  const name = `${definition.name}${onCluster(cluster)}`;
  if ('select' in definition) {
    return `CREATE MATERIALIZED VIEW IF NOT EXISTS ${name} TO ${definition.to} AS ${definition.select}`;
  }
  const { columns, partitionBy, orderBy, ttl } = definition;
  const settings = Object.entries(tableSettings(definition, cluster !== null));
  return [
    `CREATE TABLE IF NOT EXISTS ${name} (${columns.join(', ')})`,
    `ENGINE = ${cluster === null ? '' : 'Replicated'}${definition.engine}`,
    ...(partitionBy === undefined ? [] : [`PARTITION BY ${partitionBy}`]),
    `ORDER BY (${orderBy.join(', ')})`,
    ...(ttl === undefined ? [] : [`TTL ${ttl}`]),
    `SETTINGS ${settings.map(([setting, value]) => `${setting} = ${value}`).join(', ')}`,
  ].join(' ');
}

/**
 * Removes a table or a view, so that its name is free again. In process the files follow later (`engineArgs`): waiting
 * for their removal never ends where a statement that failed on a damaged part still holds the table.
 */
export function dropStatement(
  name: string,
  { cluster, isInProcess }: { readonly cluster: string | null; readonly isInProcess: boolean },
): string {
  return `DROP TABLE IF EXISTS ${name}${onCluster(cluster)}${isInProcess ? '' : ' SYNC'}`;
}

function tableSettings(
  { settings, tokensKept }: TableDefinition,
  isReplicated: boolean,
): Record<string, number> {
  return {
    ...settings,
    // An acknowledged insert survives power loss.
    fsync_after_insert: 1,
    fsync_part_directory: 1,
    ...(isReplicated
      ? {
          replicated_deduplication_window: tokensKept,
          replicated_deduplication_window_seconds: tokensKeptS,
        }
      : { non_replicated_deduplication_window: tokensKept, ...mergedParts }),
  };
}

interface PoolShape {
  readonly connections: number;
  /** Longest duration of one statement on a server, ms. */
  readonly timeoutMs: number;
}

/** In process, pages have two connections: the read-ahead of one reader must not delay another's page. */
const embeddedConnections: Readonly<Record<QueryClass, number>> = {
  insert: 1,
  build: 1,
  page: 2,
  heavy: 1,
  cleanup: 1,
};

const serverLanes: Readonly<Record<QueryClass, PoolShape>> = {
  insert: { connections: 1, timeoutMs: 60_000 },
  page: { connections: 8, timeoutMs: 10_000 },
  heavy: { connections: 2, timeoutMs: 300_000 },
  cleanup: { connections: 1, timeoutMs: 3_600_000 },
  build: { connections: 2, timeoutMs: 300_000 },
};

/** A thread that formats beside the query takes 0.3 ms to start: more than it saves on answers of this size. */
const inOneThread = 'output_format_parallel_formatting = 0';

/** Beyond this number of waiting statements, callers would have given up before their response. */
const waitingMax = 500;

/** One connection and its waiting statements, so that none waits inside the engine's thread pool. */
interface Queue {
  readonly connection: Connection;
  /** A statement that has waited longer is refused unsent, ms: waits for an unresponsive server must not add up. */
  readonly patienceMs: number;
  waiting: number;
  last: Promise<unknown>;
}
type Pools = ReadonlyMap<QueryClass, readonly Queue[]>;

/**
 * Opens ClickHouse: `embedded:<folder>` in this process and thread, or
 * `http(s)://user:password@host:port/database`, with `cluster` replicated on all nodes of that name. A server that
 * is away is no error: calls of the store fail with `projection_unavailable` until it is back.
 * @throws UnusableServer if a retry does not help; UnusableFolder
 */
export async function openClickHouseStore(options: {
  readonly url: string;
  readonly cluster?: string | null;
  readonly onDamaged?: OnTablesDamaged;
  readonly onPartDamaged?: OnPartDamaged;
}): Promise<QueryableStore> {
  const { url, cluster = null, onDamaged = () => undefined } = options;
  const { onPartDamaged = () => undefined } = options;
  if (!url.startsWith('embedded:')) return openServerStore(url, cluster, onPartDamaged);
  if (cluster !== null) throw new UnusableServer('a cluster needs the URL of a server');
  const folder = url.slice('embedded:'.length);
  return openFolder(folder, () => openEmbeddedStore(folder, onPartDamaged), onDamaged);
}

async function openEmbeddedStore(
  folder: string,
  onPartDamaged: OnPartDamaged,
): Promise<QueryableStore> {
  const pools = new Map<QueryClass, Queue[]>();
  using _engine = await attempt(() => startEngine(folder));
  for (const [queryClass, count] of Object.entries(embeddedConnections)) {
    const queues: Queue[] = [];
    for (let at = 0; at < count; at++) {
      const connection = await attempt(() => openEmbedded(folder));
      queues.push(queueOf(connection, Infinity));
    }
    pools.set(queryClass as QueryClass, queues);
  }
  const openReader = (database: string, settings: ConnectionSettings) =>
    openEmbeddedReader(folder, database, settings);
  return new ClickHouseStore(
    pools,
    { cluster: null, isInProcess: true, database: 'svc', onPartDamaged, openReader },
    () => Promise.resolve(),
  );
}

async function openServerStore(
  url: string,
  cluster: string | null,
  onPartDamaged: OnPartDamaged,
): Promise<QueryableStore> {
  const address = parseServerAddress(url);
  const isReplicated = cluster !== null;
  const pools = new Map<QueryClass, Queue[]>();
  for (const [queryClass, { connections, timeoutMs }] of Object.entries(serverLanes)) {
    const queues = Array.from({ length: connections }, () =>
      queueOf(openServer(address, { isReplicated, timeoutMs }), timeoutMs),
    );
    pools.set(queryClass as QueryClass, queues);
  }
  const check = async (): Promise<void> => {
    const { timeoutMs } = serverLanes.page;
    const system = openServer(
      { ...address, database: 'system' },
      { isReplicated: false, timeoutMs },
    );
    try {
      await checkServer(system, address, cluster);
    } finally {
      await system.close();
    }
  };
  const { database } = address;
  const openReader = (readable: string, settings: ConnectionSettings) => {
    const timeoutMs = (Number(settings['max_execution_time']) + answerMarginS) * 1000;
    const options = { isReplicated, timeoutMs, settings };
    return Promise.resolve(openServer({ ...address, database: readable }, options));
  };
  const options = { cluster, isInProcess: false, database, onPartDamaged, openReader };
  const store = new ClickHouseStore(pools, options, check);
  await store.ready();
  return store;
}

const queueOf = (connection: Connection, patienceMs: number): Queue => ({
  connection,
  patienceMs,
  waiting: 0,
  last: Promise.resolve(),
});

/** How much longer than its query a response may take. */
const answerMarginS = 10;

interface StoreOptions {
  readonly cluster: string | null;
  readonly isInProcess: boolean;
  /** Begins the names of the databases that callers read. */
  readonly database: string;
  readonly onPartDamaged: OnPartDamaged;
  /** A connection of a database that only reads. */
  readonly openReader: (database: string, settings: ConnectionSettings) => Promise<Connection>;
}

class ClickHouseStore implements QueryableStore {
  readonly #lanes: Pools;
  readonly #options: StoreOptions;
  readonly #check: () => Promise<void>;
  /** The check that is running or has succeeded. */
  #checked: Promise<void> | null = null;

  constructor(pools: Pools, options: StoreOptions, check: () => Promise<void>) {
    this.#lanes = pools;
    this.#options = options;
    this.#check = check;
  }

  /** @throws UnusableServer */
  async ready(): Promise<void> {
    try {
      await this.#checking();
    } catch (error) {
      if (error instanceof UnusableServer) throw error;
    }
  }

  create(definition: TableDefinition | ViewDefinition): Promise<void> {
    return this.command(createStatement(definition, this.#options.cluster));
  }

  drop(name: string): Promise<void> {
    return this.command(dropStatement(name, this.#options));
  }

  async command(
    sql: string,
    {
      queryClass: queryClass = 'insert',
      params,
    }: { queryClass?: QueryClass; params?: SqlParams } = {},
  ): Promise<void> {
    await this.#on(queryClass, (connection) => connection.run(sql, { params }));
  }

  async insert(insert: Insert): Promise<void> {
    await this.#on(insert.queryClass ?? 'insert', (connection) => connection.insert(insert));
  }

  queryBinary(sql: string, params?: SqlParams, queryClass: QueryClass = 'page'): Promise<Buffer> {
    const options = { params, isRead: true };
    const format = `FORMAT RowBinary SETTINGS ${inOneThread}`;
    return this.#on(queryClass, (connection) => connection.run(`${sql} ${format}`, options));
  }

  async queryRows<T>(
    sql: string,
    params?: SqlParams,
    queryClass: QueryClass = 'heavy',
  ): Promise<T[]> {
    const format = `FORMAT JSONEachRow SETTINGS output_format_json_quote_64bit_integers = 1, ${inOneThread}`;
    const options = { params, isRead: true };
    const text = await this.#on(queryClass, (connection) =>
      connection.run(`${sql} ${format}`, options),
    );
    const lines = text.toString().split('\n');
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as T);
  }

  async showViews(views: CallerViews): Promise<void> {
    const { database, cluster } = this.#options;
    const versions = (await shownVersions(this, database)).get(views.scope);
    if (versions?.size === 1 && versions.has(views.version)) return;
    const existing = await shownNames(this, database, views.scope);
    for (const statement of showStatements(database, views, existing, cluster)) {
      await this.command(statement, { queryClass: 'heavy' }).catch(refuseUngranted);
    }
  }

  async shownScopes(): Promise<readonly string[]> {
    return [...(await shownVersions(this, this.#options.database)).keys()];
  }

  async dropViews(scope: string): Promise<void> {
    const { database, cluster } = this.#options;
    await this.command(dropDatabase(database, scope, cluster), { queryClass: 'heavy' });
  }

  async runCallerQuery(query: CallerQuery): Promise<Buffer> {
    const { database, openReader, onPartDamaged } = this.#options;
    const readable = callerDatabase(database, query.scope);
    return attempt(async () => {
      await this.#checking();
      const connection = await openReader(readable, callerSettings(query.limits));
      try {
        return await runOn(connection, query);
      } finally {
        await connection.close();
      }
    }, onPartDamaged);
  }

  /** Lets running statements end. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const queue of [...this.#lanes.values()].flat()) {
      await queue.last;
      await queue.connection.close();
    }
  }

  /** On the connection of the query class with the shortest queue. */
  #on<T>(queryClass: QueryClass, task: (connection: Connection) => Promise<T>): Promise<T> {
    const queues = this.#lanes.get(queryClass) ?? [];
    const queue = queues.reduce((best, next) => (next.waiting < best.waiting ? next : best));
    if (queue.waiting >= waitingMax) return Promise.reject(overloaded(queryClass));
    queue.waiting++;
    const askedAt = performance.now();
    const result = queue.last.then(() => {
      if (performance.now() - askedAt > queue.patienceMs) throw overloaded(queryClass);
      return attempt(async () => {
        await this.#checking();
        return task(queue.connection);
      }, this.#options.onPartDamaged);
    });
    const ended = (): void => {
      queue.waiting--;
    };
    queue.last = result.then(ended, ended);
    return result;
  }

  /** Shared by concurrent calls; repeated after a failure. */
  #checking(): Promise<void> {
    this.#checked ??= this.#check().catch((error: unknown) => {
      this.#checked = null;
      throw error;
    });
    return this.#checked;
  }
}

const overloaded = (queryClass: QueryClass): GatewayError =>
  new GatewayError(
    'projection_unavailable',
    { retryAfterS: 1 },
    { cause: new Error(`too many statements wait for the connections of the lane ${queryClass}`) },
  );
