import { GatewayError } from '../../kernel/errors.ts';
import type { Insert, Lane, ProjectionStore, SqlParams } from '../../ports/projection-store.ts';
import type { Connection } from './connections.ts';
import { openEmbedded, openServer, run } from './connections.ts';

/**
 * Connections by lane. Pages have two: the read-ahead of one reader must not hold up another's page.
 */
const connectionsOfLane: Readonly<Record<Lane, number>> = {
  insert: 1,
  build: 1,
  page: 2,
  heavy: 1,
  cleanup: 1,
};

/** Errors that lie in the rows, not in the store: the same insert can never succeed. */
const refusals = new Set([
  '6', // CANNOT_PARSE_TEXT
  '26', // CANNOT_PARSE_QUOTED_STRING
  '27', // CANNOT_PARSE_INPUT_ASSERTION_FAILED
  '33', // CANNOT_READ_ALL_DATA
  '38', // CANNOT_PARSE_DATE
  '41', // CANNOT_PARSE_DATETIME
  '53', // TYPE_MISMATCH
  '69', // ARGUMENT_OUT_OF_BOUND
  '72', // CANNOT_PARSE_NUMBER
  '117', // INCORRECT_DATA
  '131', // TOO_LARGE_STRING_SIZE
  '321', // VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE
]);

/** One connection and the statements that wait for it, so that none waits inside the engine's thread pool. */
interface Queue {
  readonly connection: Connection;
  waiting: number;
  last: Promise<unknown>;
}

/**
 * Opens ClickHouse: `embedded:<folder>` in this process and thread, or `http(s)://user:password@host:port/database`.
 * @throws GatewayError `projection_unavailable`
 */
export async function openClickHouseStore(options: {
  readonly url: string;
  readonly cluster?: string | null;
}): Promise<ProjectionStore> {
  const open = opener(options.url);
  const lanes = new Map<Lane, Queue[]>();
  for (const [lane, count] of Object.entries(connectionsOfLane)) {
    const queues: Queue[] = [];
    for (let at = 0; at < count; at++) {
      queues.push({ connection: await attempt(open), waiting: 0, last: Promise.resolve() });
    }
    lanes.set(lane as Lane, queues);
  }
  return new ClickHouseStore(lanes);
}

function opener(url: string): () => Promise<Connection> {
  if (url.startsWith('embedded:')) {
    const path = url.slice('embedded:'.length);
    return () => openEmbedded(path);
  }
  return async () => openServer(url);
}

class ClickHouseStore implements ProjectionStore {
  readonly #lanes: ReadonlyMap<Lane, readonly Queue[]>;

  constructor(lanes: ReadonlyMap<Lane, readonly Queue[]>) {
    this.#lanes = lanes;
  }

  async command(
    sql: string,
    { lane = 'insert', params }: { lane?: Lane; params?: SqlParams } = {},
  ): Promise<void> {
    await this.#on(lane, ({ client }) => run(client, sql, params));
  }

  async insert(insert: Insert): Promise<void> {
    await this.#on(insert.lane ?? 'insert', (connection) => connection.insert(insert));
  }

  queryBinary(sql: string, params?: SqlParams, lane: Lane = 'page'): Promise<Buffer> {
    return this.#on(lane, ({ client }) => run(client, `${sql} FORMAT RowBinary`, params));
  }

  async queryRows<T>(sql: string, params?: SqlParams, lane: Lane = 'heavy'): Promise<T[]> {
    const format = 'FORMAT JSONEachRow SETTINGS output_format_json_quote_64bit_integers = 1';
    const text = await this.#on(lane, ({ client }) => run(client, `${sql} ${format}`, params));
    const lines = text.toString().split('\n');
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as T);
  }

  /** Lets running statements end. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const queue of [...this.#lanes.values()].flat()) {
      await queue.last;
      await queue.connection.close();
    }
  }

  /** On the connection of the lane with the shortest queue. */
  #on<T>(lane: Lane, work: (connection: Connection) => Promise<T>): Promise<T> {
    const queues = this.#lanes.get(lane) ?? [];
    const queue = queues.reduce((best, next) => (next.waiting < best.waiting ? next : best));
    queue.waiting++;
    const result = queue.last.then(() => attempt(() => work(queue.connection)));
    const ended = (): void => {
      queue.waiting--;
    };
    queue.last = result.then(ended, ended);
    return result;
  }
}

async function attempt<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw errorOf(cause);
  }
}

function errorOf(cause: unknown): GatewayError {
  if (refusals.has(engineCode(cause))) {
    return new GatewayError('projection_refused', {}, { cause });
  }
  return new GatewayError('projection_unavailable', { retryAfterS: 1 }, { cause });
}

/** The engine's own number of the error; the two ways in name it differently. */
function engineCode(cause: unknown): string {
  if (typeof cause !== 'object' || cause === null) return '';
  if ('clickhouseCode' in cause) return String(cause.clickhouseCode);
  return 'code' in cause ? String(cause.code) : '';
}
