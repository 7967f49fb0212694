import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import kafkajs, { type ApiVersions, type SASLOptions } from 'kafkajs';
import type { ConnectionPool, ProtocolCall } from 'kafkajs/src/broker/index.js';
import SaslAuthenticator from 'kafkajs/src/broker/saslAuthenticator/index.js';
import createRequest from 'kafkajs/src/protocol/request.js';
import { codeOf, LostConnection } from './failure.ts';

/** A request without a response for this long has failed: the connection is closed. */
export const requestTimeoutMs = 30_000;
const connectTimeoutMs = 5_000;
const keepAliveMs = 60_000;
/** An expiring authentication is renewed this long before. */
const renewBeforeMs = 10_000;
const correlationIds = 2 ** 31;

/** SaslHandshake, ApiVersions, SaslAuthenticate: requests before authentication. */
const beforeSignIn: ReadonlySet<number> = new Set([17, 18, 36]);

/** The callers report errors; kafkajs itself logs every step. */
export const silentLogger = new kafkajs.Kafka({
  brokers: [],
  logLevel: kafkajs.logLevel.NOTHING,
}).logger();

interface BrokerSocketOptions {
  readonly host: string;
  readonly port: number;
  readonly clientId: string;
  readonly tls?: ConnectionOptions | undefined;
  readonly sasl?: SASLOptions | undefined;
}

interface PendingRequest {
  readonly answer: PromiseWithResolvers<Buffer>;
  readonly timer: NodeJS.Timeout;
}

/**
 * One socket to a broker. Any failure ends it permanently, with every pending request; later requests use another
 * socket, so that no byte or correlation id crosses over. For kafkajs it is the connection pool, with one
 * connection.
 */
export class BrokerSocket implements ConnectionPool {
  readonly host: string;
  readonly port: number;
  readonly sasl: SASLOptions | undefined;
  readonly connectionTimeout = connectTimeoutMs;
  readonly #options: BrokerSocketOptions;
  readonly #frames = new Frames();
  readonly #waiting = new Map<number, PendingRequest>();
  #socket: Socket | null = null;
  #opening: Promise<void> | null = null;
  #isOpen = false;
  #failure: Error | null = null;
  #lastId = 0;
  #versions: ApiVersions = {};
  #signingIn: Promise<void> | null = null;
  #signedInUntil = -Infinity;

  constructor(options: BrokerSocketOptions) {
    this.#options = options;
    this.host = options.host;
    this.port = options.port;
    // kafkajs adds a function to what it gets, and these options also go to other threads, as data.
    this.sasl = options.sasl === undefined ? undefined : { ...options.sasl };
  }

  get hasEnded(): boolean {
    return this.#failure !== null;
  }

  isConnected(): boolean {
    return this.#isOpen && !this.hasEnded;
  }

  isAuthenticated(): boolean {
    return performance.now() < this.#signedInUntil;
  }

  setVersions(versions: ApiVersions): void {
    this.#versions = versions;
  }

  /** SaslAuthenticate: every broker since Kafka 1.0 has it. */
  getSupportAuthenticationProtocol(): true {
    return true;
  }

  async getConnection(): Promise<this> {
    this.#opening ??= this.#open();
    await this.#opening;
    return this;
  }

  /** Rejects pending and later requests. */
  end(why: Error): void {
    if (this.#failure !== null) return;
    this.#failure = why;
    for (const { answer, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      answer.reject(why);
    }
    this.#waiting.clear();
    this.#socket?.destroy();
  }

  /** Authenticates if the broker requires it; concurrent calls share the result. */
  authenticate(): Promise<void> {
    if (this.sasl === undefined || this.isAuthenticated()) return Promise.resolve();
    this.#signingIn ??= this.#signIn().finally(() => (this.#signingIn = null));
    return this.#signingIn;
  }

  async send<T>(call: ProtocolCall<T>): Promise<T> {
    const { request, response } = call;
    if (!beforeSignIn.has(request.apiKey)) await this.authenticate();
    const payload = await this.#answerTo(call);
    return response.parse(await this.#decoded(call, payload));
  }

  async #answerTo({ request, requestTimeout }: ProtocolCall<unknown>): Promise<Buffer> {
    this.#lastId = (this.#lastId + 1) % correlationIds;
    const correlationId = this.#lastId;
    const { clientId } = this.#options;
    const { buffer } = await createRequest({ request, correlationId, clientId });
    if (this.#failure !== null) throw this.#failure;
    const answer = Promise.withResolvers<Buffer>();
    const timeoutMs = Math.max(requestTimeoutMs, requestTimeout ?? 0);
    const timer = setTimeout(() => {
      this.#lose(`no answer to ${request.apiName} within ${timeoutMs} ms`);
    }, timeoutMs);
    this.#waiting.set(correlationId, { answer, timer });
    this.#socket?.write(buffer);
    return answer.promise;
  }

  async #open(): Promise<void> {
    if (this.#failure !== null) throw this.#failure;
    const { host, port, tls } = this.#options;
    const target = { host, port };
    const serverName = isIP(host) === 0 ? { servername: host } : {};
    const socket =
      tls === undefined ? connectTcp(target) : connectTls({ ...target, ...serverName, ...tls });
    this.#socket = socket;
    socket.setKeepAlive(true, keepAliveMs);
    const opened = Promise.withResolvers<undefined>();
    socket.once(tls === undefined ? 'connect' : 'secureConnect', () => {
      this.#isOpen = true;
      opened.resolve(undefined);
    });
    socket.on('data', (chunk: Buffer) => this.#received(chunk));
    socket.on('error', (error) => this.#lose(reasonOf(error)));
    socket.on('end', () => this.#lose('the broker closed it'));
    socket.on('close', () => {
      this.#lose('it was closed');
      opened.reject(this.#failure);
    });
    const late = `no connection within ${connectTimeoutMs} ms`;
    const timer = setTimeout(() => this.#lose(late), connectTimeoutMs);
    await opened.promise.finally(() => clearTimeout(timer));
  }

  /** Must not throw: that would end the process. */
  #received(chunk: Buffer): void {
    try {
      for (const frame of this.#frames.add(chunk)) {
        const id = frame.readInt32BE(0);
        const waiting = this.#waiting.get(id);
        if (waiting === undefined) throw new Error(`an answer to no request (${id})`);
        this.#waiting.delete(id);
        clearTimeout(waiting.timer);
        waiting.answer.resolve(frame.subarray(4));
      }
    } catch (error) {
      this.#lose(reasonOf(error));
    }
  }

  #lose(reason: string): void {
    this.end(this.#lost(reason));
  }

  #lost(reason: string, cause?: unknown): LostConnection {
    const message = `the connection to ${this.host}:${this.port} is lost: ${reason}`;
    return new LostConnection(message, { cause });
  }

  /** A response that cannot be decoded fails its connection; an error with a code is the broker's response. */
  async #decoded<T>({ request, response }: ProtocolCall<T>, payload: Buffer): Promise<T> {
    try {
      return await response.decode(payload);
    } catch (error) {
      if (codeOf(error) !== null) throw error;
      const reason = `the answer to ${request.apiName} is unreadable (${reasonOf(error)})`;
      const lost = this.#lost(reason, error);
      this.end(lost);
      throw lost;
    }
  }

  async #signIn(): Promise<void> {
    const authenticator = new SaslAuthenticator(this, silentLogger, this.#versions, true);
    try {
      await authenticator.authenticate();
    } catch (error) {
      // kafkajs treats every failure as a refusal.
      throw this.#failure ?? error;
    }
    const lifetimeMs = Number(authenticator.sessionLifetime);
    this.#signedInUntil =
      lifetimeMs === 0 ? Infinity : performance.now() + lifetimeMs - renewBeforeMs;
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Connecting to several addresses failed: the error then has no message.
  return error.message || ('code' in error ? String(error.code) : error.name);
}

const lengthBytes = 4;
const correlationBytes = 4;
/** The default request limit of brokers. A larger frame: the peer does not speak Kafka's protocol. */
const frameBytesMax = 100 * 1024 ** 2;

/** Splits received bytes into responses: a length (int32), then that many bytes. */
class Frames {
  #chunks: Buffer[] = [];
  #buffered = 0;
  #needed = lengthBytes;

  /** The responses that the chunk completes, without their length. @throws Error when the length is invalid */
  add(chunk: Buffer): Buffer[] {
    this.#chunks.push(chunk);
    this.#buffered += chunk.length;
    const frames: Buffer[] = [];
    while (this.#buffered >= this.#needed) {
      const bytes = this.#joined();
      const end = lengthBytes + frameLength(bytes);
      if (bytes.length < end) {
        this.#keep(bytes, end);
        break;
      }
      frames.push(bytes.subarray(lengthBytes, end));
      this.#keep(bytes.subarray(end), lengthBytes);
    }
    return frames;
  }

  #joined(): Buffer {
    const [first] = this.#chunks;
    return first !== undefined && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks);
  }

  #keep(bytes: Buffer, needed: number): void {
    this.#chunks = bytes.length === 0 ? [] : [bytes];
    this.#buffered = bytes.length;
    this.#needed = needed;
  }
}

function frameLength(bytes: Buffer): number {
  const length = bytes.readInt32BE(0);
  if (length >= correlationBytes && length <= frameBytesMax) return length;
  throw new Error(`an answer of ${length} bytes is none of Kafka's protocol`);
}
