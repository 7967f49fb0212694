import { randomInt } from 'node:crypto';
import { Redis, ReplyError } from 'ioredis';
import type { Logger } from 'pino';
import { GatewayError } from '../../../kernel/errors.ts';

export interface ConnectionOptions {
  /** `redis://` or `rediss://` (TLS), with user, password and database where there are any. */
  readonly url: string;
  readonly logger?: Logger | undefined;
}

const connectTimeoutMs = 2_000;
/** Also of a whole connection on which something is asked and nothing comes. */
const answerTimeoutMs = 1_000;
const retryDelayMsMax = 1_000;

const retryDelayMs = (attempt: number): number =>
  Math.min(retryDelayMsMax, 50 * 2 ** Math.min(attempt, 10)) + randomInt(50);

/** One connection. It comes back by itself; what is asked while it is away fails at once. */
export class Connection implements AsyncDisposable {
  readonly client: Redis;
  readonly #address: string;
  readonly #logger: Logger | undefined;
  #isAway = false;
  /** Of the last failure. An error of the client itself holds the command with its arguments, the password say. */
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
   * Resolves also when nobody answers: the connection is tried again until it is there.
   * @throws GatewayError `coordination_unavailable` when the server answers and refuses, a wrong password say.
   */
  async open(): Promise<void> {
    try {
      await this.client.connect();
    } catch (error) {
      this.#reason ||= reasonOf(error);
      if (this.#isRefused) throw this.#refused();
    }
  }

  /** @throws GatewayError `coordination_unavailable`: it may or may not have happened. */
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
