import type { Transform } from 'node:stream';
import {
  HttpFailure,
  type AnswerFlow,
  type AnswerSink,
  type ForwardRequest,
} from '#ports/http-client.ts';
import { codingsOf } from './decode.ts';
import { createDecoder } from './decoders.ts';
import type { AnswerHead } from './http1/answer-head.ts';
import type { AnswerTaker, Connection } from './http1/connection.ts';
import type { ConnectionPool } from './http1/pool.ts';
import { requestHead, type SentHead } from './http1/request-text.ts';

/** A response that decodes to more than this multiple of its size, and is not small, is an attack. */
const expansionMax = 200;
const smallBytes = 64 * 1024 ** 2;

/** Idempotent methods (RFC 9110 section 9.2.2). */
const idempotent = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE']);

/**
 * One exchange on a connection of its own for its duration: no stream objects between the two sockets. A provider
 * may close a kept connection while the next request is in flight: an idempotent request without a body is then
 * sent once more, over a new connection.
 */
export function forwardOver(
  pool: ConnectionPool,
  request: ForwardRequest,
  open: (flow: AnswerFlow) => AnswerSink,
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (request.cancellation.isCancelled) throw cancelled();
    const head = requestHead(request);
    const settle = (error: Error | null): void => {
      if (error === null) resolve();
      else reject(error);
    };
    const sendAgain = (): void => {
      pool
        .open(request.url)
        .then((connection) => exchangeOver(connection, request, { head, open, settle }))
        .catch(reject);
    };
    const kept = pool.take(request.url);
    const isRepeatable = request.body === null && idempotent.has(request.method);
    if (kept === null) sendAgain();
    else
      exchangeOver(kept, request, { head, open, settle, ...(isRepeatable ? { sendAgain } : {}) });
  });
}

interface Exchange {
  readonly head: SentHead;
  readonly open: (flow: AnswerFlow) => AnswerSink;
  readonly settle: (error: Error | null) => void;
  /** Present if the request may be repeated: called when the connection ended without a response. */
  readonly sendAgain?: () => void;
}

function exchangeOver(
  connection: Connection,
  request: ForwardRequest,
  { head, open, settle, sendAgain }: Exchange,
): void {
  const { cancellation } = request;
  if (cancellation.isCancelled) {
    connection.close();
    settle(cancelled());
    return;
  }
  const forwarding = new ResponseForwarder(request, connection, open, (error, isUnheard) => {
    cancellation.listener = null;
    if (isUnheard && sendAgain !== undefined) sendAgain();
    else settle(error);
  });
  // Assigned through a named constant: V8 allocates a function literal in a property assignment as long-lived, so
  // that each would retain its whole call until the next full collection.
  const cancel = (): void => forwarding.fail(cancelled());
  cancellation.listener = cancel;
  connection.send(request, head, forwarding);
}

const cancelled = (): HttpFailure =>
  new HttpFailure('ERR_CANCELED', 'The caller did not wait for the response.');

/** Passes a response to the sink, decoded if requested. */
class ResponseForwarder implements AnswerTaker {
  readonly #request: ForwardRequest;
  readonly #settle: (error: Error | null, isUnheard: boolean) => void;
  readonly #sink: AnswerSink;
  /**
   * Null once the exchange is over: the connection may then serve another one while this response is still being
   * decoded.
   */
  #connection: Connection | null;
  #decoding: BodyDecoder | null = null;
  #isSettled = false;

  constructor(
    request: ForwardRequest,
    connection: Connection,
    open: (flow: AnswerFlow) => AnswerSink,
    settle: (error: Error | null, isUnheard: boolean) => void,
  ) {
    this.#request = request;
    this.#connection = connection;
    this.#settle = settle;
    this.#sink = open({ resume: () => (this.#decoding ?? this.#connection)?.resume() });
  }

  head({ status, statusText, headers }: AnswerHead): boolean {
    const undo = this.#request.isDecoded ? codingsOf(status, codingOf(headers)) : [];
    if (undo.length === 0) return this.#sink.head(status, statusText, headers);
    if (!this.#sink.head(status, statusText, withoutCoding(headers))) return false;
    this.#decoding = startDecoding(undo, {
      sink: this.#sink,
      resume: () => this.#connection?.resume(),
      end: () => this.#end(null),
      fail: (error) => this.fail(error),
    });
    return true;
  }

  data(piece: Buffer, isLast: boolean): boolean {
    return this.#decoding?.write(piece) ?? this.#sink.data(piece, isLast);
  }

  end(): void {
    this.#connection = null;
    if (this.#decoding === null) this.#end(null);
    else this.#decoding.end();
  }

  failed(error: Error, isUnheard: boolean): void {
    this.#connection = null;
    this.#decoding?.stop();
    this.#end(error, isUnheard);
  }

  /** Ends the exchange locally. */
  fail(error: Error): void {
    if (this.#connection === null) this.failed(error, false);
    else this.#connection.fail(error);
  }

  #end(error: Error | null, isUnheard = false): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#settle(error, isUnheard);
  }
}

function codingOf(headers: readonly string[]): string | undefined {
  const values = headers.filter((_, at) => at % 2 === 1 && headers[at - 1] === 'content-encoding');
  return values.length === 0 ? undefined : values.join(', ');
}

function withoutCoding(headers: readonly string[]): string[] {
  return headers.filter((_, at) => {
    const name = headers[at - (at % 2)];
    return name !== 'content-encoding' && name !== 'content-length';
  });
}

interface BodyDecoder {
  /** False when the caller must wait before it writes more. */
  write(chunk: Buffer): boolean;
  end(): void;
  resume(): void;
  stop(): void;
}

function startDecoding(
  codings: readonly string[],
  target: {
    readonly sink: AnswerSink;
    readonly resume: () => void;
    readonly end: () => void;
    readonly fail: (error: Error) => void;
  },
): BodyDecoder {
  const chain = codings.map(createDecoder);
  const first = chain[0] as Transform;
  const last = chain.reduce((before, next) => before.pipe(next));
  let bytesIn = 0;
  let bytesOut = 0;
  for (const part of chain) part.on('error', target.fail);
  first.on('drain', target.resume);
  last.on('data', (chunk: Buffer) => {
    bytesOut += chunk.length;
    if (bytesOut > smallBytes && bytesOut > expansionMax * bytesIn) {
      target.fail(
        new HttpFailure('ERR_BODY_TOO_LARGE', 'The response is too large when decompressed.'),
      );
    } else if (!target.sink.data(chunk, false)) last.pause();
  });
  last.on('end', target.end);
  return {
    write(chunk) {
      bytesIn += chunk.length;
      return first.write(chunk);
    },
    end: () => void first.end(),
    resume: () => void last.resume(),
    stop: () => {
      for (const part of chain) part.destroy();
    },
  };
}
