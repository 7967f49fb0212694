import { randomUUID, randomInt } from 'node:crypto';
import { Redis, ReplyError } from 'ioredis';
import type { Logger } from 'pino';
import { GatewayError } from '#kernel/errors.ts';
import type { CallBudget, Coordination, Lease } from '#ports/coordination.ts';
import { partMs, partsCounted, rememberedMs } from './call-window.ts';
import { openInProcessCoordination } from './in-process.ts';

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
 * The calls of a budget by part of its window (`call-window.ts`), by the clock of the server. Takes a call, unless only
 * the use is asked for. Returns the ms until it is worth asking again (0: taken), the calls, and the ms of a pause.
 */
const budgetScript = `
local width, counted, calls = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local part = math.floor(now / width)
local first, taken, paused = part, 0, 0
local fields = redis.call('HGETALL', KEYS[1])
for at = 1, #fields, 2 do
  local field, value = fields[at], tonumber(fields[at + 1])
  if field == 'paused_until' then
    paused = math.max(0, value - now)
  elseif tonumber(field) <= part - counted or tonumber(field) > part then
    redis.call('HDEL', KEYS[1], field)
  else
    first = math.min(first, tonumber(field))
    taken = taken + value
  end
end
if ARGV[4] == 'use' then return {0, taken, paused} end
if paused > 0 then return {paused, taken, paused} end
if taken >= calls then return {math.max(1, (first + counted) * width - now), taken, 0} end
redis.call('HINCRBY', KEYS[1], part, 1)
if redis.call('PTTL', KEYS[1]) < counted * width then
  redis.call('PEXPIRE', KEYS[1], counted * width)
end
return {0, taken + 1, 0}`;

const pauseScript = `
local time = redis.call('TIME')
local until_ms = time[1] * 1000 + math.floor(time[2] / 1000) + tonumber(ARGV[1])
local former = tonumber(redis.call('HGET', KEYS[1], 'paused_until') or 0)
redis.call('HSET', KEYS[1], 'paused_until', string.format('%d', math.max(former, until_ms)))
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 1`;

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
  const askBudget = async (name: string, budget: CallBudget, question: 'take' | 'use') => {
    const args = [keyOf('budget', name), partMs(budget), partsCounted, budget.calls, question];
    const answer = await connection.execute((client) => client.eval(budgetScript, 1, ...args));
    const [waitMs, calls, pausedMs] = answer as [number, number, number];
    return { waitMs, calls, pausedMs };
  };
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
    async takeCall(name, budget) {
      try {
        return (await askBudget(name, budget, 'take')).waitMs;
      } catch (error) {
        logger?.debug({ err: error }, 'budget only of this node');
        return local.takeCall(name, budget);
      }
    },
    async pauseCalls(name, budget, ms) {
      try {
        const keptMs = Math.ceil(Math.max(rememberedMs(budget), ms));
        const args = [keyOf('budget', name), Math.ceil(ms), keptMs];
        await connection.execute((client) => client.eval(pauseScript, 1, ...args));
      } catch (error) {
        logger?.debug({ err: error }, 'budget paused only on this node');
        await local.pauseCalls(name, budget, ms);
      }
    },
    async callsTaken(name, budget) {
      try {
        const { calls, pausedMs } = await askBudget(name, budget, 'use');
        return { calls, pausedMs };
      } catch (error) {
        logger?.debug({ err: error }, 'use of a budget only on this node');
        return local.callsTaken(name, budget);
      }
    },
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
