import { randomUUID, randomInt } from 'node:crypto';
import { Redis, ReplyError } from 'ioredis';
import type { Logger } from 'pino';
import { GatewayError } from '#kernel/errors.ts';
import type { Coordination, Lease } from '#ports/coordination.ts';
import { openInProcessCoordination } from './in-process.ts';
import { redisBudgets } from './redis-budgets.ts';

interface ConnectionOptions {
  /** `redis://` or `rediss://` (TLS), optionally with user, password and database. */
  readonly url: string;
  readonly logger?: Logger | undefined;
}

const connectTimeoutMs = 2_000;
/** Also closes an open connection on which a request gets no response. */
const answerTimeoutMs = 1_000;
const retryDelayMsMax = 1_000;

const retryDelayMs = (attempt: number): number =>
  Math.min(retryDelayMsMax, 50 * 2 ** Math.min(attempt, 10)) + randomInt(50);

/** One connection. It reconnects by itself; requests fail at once while it is away. */
class Connection implements AsyncDisposable {
  readonly client: Redis;
  readonly #address: string;
  readonly #logger: Logger | undefined;
  #isAway = false;
  /**
   * Of the last failure. An error of the client itself contains the command with its arguments, for example the
   * password.
   */
  #reason = '';
  #isRefused = false;

  constructor({ url, logger }: ConnectionOptions) {
    this.#address = new URL(url).host;
    this.#logger = logger;
    this.client = new Redis(url, {
      lazyConnect: true,
      connectTimeout: connectTimeoutMs,
      commandTimeout: answerTimeoutMs,
      socketTimeout: answerTimeoutMs,
      retryStrategy: retryDelayMs,
      // Requests do not wait for an unavailable server, and nothing is counted twice.
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      autoResendUnfulfilledCommands: false,
      autoResubscribe: false,
      // After a failover the former primary keeps its connections, and refuses writes.
      reconnectOnError: (error) => error.message.startsWith('READONLY'),
    });
    this.client.on('error', (error: Error) => {
      this.#reason = error.message;
      this.#isRefused = error instanceof ReplyError;
    });
    this.client.on('close', () => this.#lost());
    this.client.on('ready', () => this.#found());
  }

  /**
   * Resolves even if nothing responds: the connection is retried until it is established.
   * @throws GatewayError `coordination_unavailable` when the server responds with a refusal, for example of the
   *   password
   */
  async open(): Promise<void> {
    try {
      await this.client.connect();
    } catch (error) {
      this.#reason ||= reasonOf(error);
      if (this.#isRefused) throw this.#refused();
    }
  }

  /** @throws GatewayError `coordination_unavailable`: it may or may not have been executed */
  async execute<T>(question: (client: Redis) => Promise<T>): Promise<T> {
    try {
      return await question(this.client);
    } catch (error) {
      const cause = new Error(reasonOf(error));
      throw new GatewayError('coordination_unavailable', { retryAfterS: 1 }, { cause });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.client.removeAllListeners('close');
    this.client.disconnect();
  }

  #lost(): void {
    if (!this.#isAway) {
      const facts = { address: this.#address, reason: this.#reason };
      this.#logger?.warn(facts, 'coordination is away');
    }
    this.#isAway = true;
  }

  #found(): void {
    if (this.#isAway) this.#logger?.info({ address: this.#address }, 'coordination is back');
    this.#isAway = false;
    this.#reason = '';
  }

  #refused(): GatewayError {
    const message = `Redis at ${this.#address} refuses the connection (${this.#reason}): check the user, password and database of its URL.`;
    return new GatewayError('coordination_unavailable', { message });
  }
}

const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

type Listener = (message: string) => void;

interface Channel {
  readonly listeners: Set<Listener>;
  readonly subscribed: Promise<void>;
}

/** The channels of this node, over a connection of their own; resubscribed after a reconnect. */
class Subscriptions {
  readonly #connection: Connection;
  readonly #logger: Logger | undefined;
  readonly #channels = new Map<string, Channel>();

  constructor(connection: Connection, logger: Logger | undefined) {
    this.#connection = connection;
    this.#logger = logger;
    const { client } = connection;
    client.on('message', (name: string, message: string) => this.#heard(name, message));
    client.on('ready', () => void this.#again());
  }

  /** Resolves even while the server is away: the listener then receives messages once it is back. */
  async add(name: string, listener: Listener): Promise<AsyncDisposable> {
    const channel = this.#channels.get(name) ?? this.#open(name);
    channel.listeners.add(listener);
    await channel.subscribed;
    return { [Symbol.asyncDispose]: () => this.#leave(name, channel, listener) };
  }

  /** Anyone may publish on the server: a message that a listener rejects must not end the process. */
  #heard(name: string, message: string): void {
    for (const listener of this.#channels.get(name)?.listeners ?? []) {
      try {
        listener(message);
      } catch (error) {
        this.#logger?.warn({ err: error, channel: name }, 'message of a channel not processed');
      }
    }
  }

  #open(name: string): Channel {
    const subscribed = this.#subscribe([name]);
    const channel = { listeners: new Set<Listener>(), subscribed };
    this.#channels.set(name, channel);
    return channel;
  }

  /** Whether the channel has no listeners left. */
  #remove(name: string, channel: Channel, listener: Listener): boolean {
    channel.listeners.delete(listener);
    if (channel.listeners.size > 0 || this.#channels.get(name) !== channel) return false;
    return this.#channels.delete(name);
  }

  async #leave(name: string, channel: Channel, listener: Listener): Promise<void> {
    if (!this.#remove(name, channel, listener)) return;
    try {
      await this.#connection.execute((client) => client.unsubscribe(name));
    } catch (error) {
      // Without a connection there is no subscription either.
      this.#logger?.debug({ err: error }, 'channel not unsubscribed');
    }
  }

  async #again(): Promise<void> {
    const names = [...this.#channels.keys()];
    if (names.length > 0) await this.#subscribe(names);
  }

  /** Failed subscriptions are repeated after a reconnect. Never rejects. */
  async #subscribe(names: readonly string[]): Promise<void> {
    const { client } = this.#connection;
    try {
      await this.#connection.execute(() => client.subscribe(...names));
    } catch (error) {
      this.#logger?.warn({ err: error }, 'channels not subscribed yet');
      if (client.status === 'ready') client.disconnect(true);
    }
  }
}

export interface RedisCoordinationOptions {
  /** `redis://[user:password@]host:port[/database]`, or `rediss://` for TLS. */
  readonly url: string;
  /** First part of every key and channel; separates gateways that share a server. */
  readonly prefix: string;
  readonly logger?: Logger;
}

/** Acquires the lease, or extends it for its holder: 1; 0 when another one holds it. */
const acquireScript = `
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`;

const releaseScript = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`;

/** The value, and the milliseconds until the window ends; the first count begins the window. */
const countScript = `
local value = redis.call('INCRBY', KEYS[1], ARGV[1])
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  left = tonumber(ARGV[2])
  redis.call('PEXPIRE', KEYS[1], left)
end
return {value, left}`;

/**
 * Coordination by Redis: one server, or the address of its primary. While it is away, counters continue within this
 * node, and everything else fails at once.
 * @throws GatewayError `coordination_unavailable` when it responds with a refusal, for example of the password;
 *   when it does not respond, it is used as soon as it does.
 */
export async function openRedisCoordination(
  options: RedisCoordinationOptions,
): Promise<Coordination> {
  await using stack = new AsyncDisposableStack();
  const { prefix, logger } = options;
  const local = stack.use(openInProcessCoordination());
  const connection = stack.use(new Connection(options));
  const listening = stack.use(new Connection(options));
  const subscriptions = new Subscriptions(listening, logger);
  await Promise.all([connection.open(), listening.open()]);

  const keyOf = (kind: string, name: string) => `${prefix}:${kind}:${name}`;
  const execute = connection.execute.bind(connection);
  const opened = stack.move();
  return {
    async acquire(name, { ttlMs, token = randomUUID() }): Promise<Lease | null> {
      const args = [token, Math.ceil(ttlMs)];
      const key = keyOf('lease', name);
      const taken = await connection.execute((client) =>
        client.eval(acquireScript, 1, key, ...args),
      );
      return taken === 1 ? { name, token } : null;
    },
    async release({ name, token }) {
      try {
        const key = keyOf('lease', name);
        await connection.execute((client) => client.eval(releaseScript, 1, key, token));
      } catch (error) {
        logger?.debug({ err: error, lease: name }, 'lease not released: it expires by itself');
      }
    },
    async count(name, { windowMs, by = 1 }) {
      try {
        const args = [keyOf('count', name), by, Math.ceil(windowMs)];
        const counted = await connection.execute((client) => client.eval(countScript, 1, ...args));
        const [value, resetMs] = counted as [number, number];
        return { value, resetMs };
      } catch (error) {
        logger?.debug({ err: error }, 'counted only on this node');
        return local.count(name, { windowMs, by });
      }
    },
    ...redisBudgets({ execute, keyOf, local, logger }),
    async set(key, value, { ttlMs }) {
      const px = Math.ceil(ttlMs);
      await connection.execute((client) => client.set(keyOf('value', key), value, 'PX', px));
    },
    get: (key) => connection.execute((client) => client.get(keyOf('value', key))),
    async delete(key) {
      await connection.execute((client) => client.del(keyOf('value', key)));
    },
    async publish(channel, message) {
      await connection.execute((client) => client.publish(keyOf('channel', channel), message));
    },
    subscribe: (channel, listener) => subscriptions.add(keyOf('channel', channel), listener),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
