import { randomInt } from 'node:crypto';
import { Redis, ReplyError } from 'ioredis';
import type { Logger } from 'pino';
import { GatewayError } from '#kernel/errors.ts';

export interface ConnectionOptions {
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
export class Connection implements AsyncDisposable {
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
