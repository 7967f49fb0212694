import type { Socket } from 'node:net';
import { HttpFailure, type ForwardRequest } from '#ports/http-client.ts';
import { notHttp, parseAnswerHead, type AnswerHead, ChunkedBody } from './answer-head.ts';
import type { SentHead } from './request-text.ts';

/** Receives one response as it arrives. No call follows `end` or `failed`. */
export interface AnswerTaker {
  /** Returns whether the body is wanted; without it the exchange ends here. */
  head(head: AnswerHead): boolean;
  /**
   * Returns whether more data may follow at once; otherwise `resume` requests more.
   * @param isLast this is the last piece
   */
  data(piece: Buffer, isLast: boolean): boolean;
  end(): void;
  /** @param isUnheard the connection ended before a single byte of the response */
  failed(error: Error, isUnheard: boolean): void;
}

const headBytesMax = 64 * 1024;
const headEnd = Buffer.from('\r\n\r\n');

/** An HTTP/1.1 connection with one exchange at a time. It is kept only while both sides agree on its state. */
export class Connection {
  readonly #socket: Socket;
  readonly #changed: (connection: Connection) => void;
  #taker: AnswerTaker | null = null;
  #request: ForwardRequest | null = null;
  #sender: BodySender | null = null;
  #isSent = false;
  /** Whether any byte of the response has arrived. */
  #isHeard = false;
  /** An incomplete head. */
  #begun: Buffer | null = null;
  #headBytes = 0;
  #head: AnswerHead | null = null;
  #left = 0;
  #chunks: ChunkedBody | null = null;
  #isPaused = false;
  /** Time of the last byte sent or received, on the clock of `performance.now`. */
  #activeAt = performance.now();
  /** Time of the last byte of the request. */
  #sentAt = 0;
  #keptUntil = 0;

  /** @param changed called when the connection is free for the next exchange, or closed */
  constructor(socket: Socket, changed: (connection: Connection) => void) {
    this.#socket = socket;
    this.#changed = changed;
    socket.on('data', (bytes: Buffer) => this.#read(bytes));
    socket.on('drain', () => {
      this.#activeAt = performance.now();
    });
    socket.on('end', () => this.#closed(null));
    socket.on('error', (error) => this.#closed(error));
    socket.on('close', () => this.#closed(null));
  }

  /** Whether the next exchange may begin. */
  isFree(now: number): boolean {
    return this.#taker === null && !this.#socket.destroyed && now < this.#keptUntil;
  }

  get isClosed(): boolean {
    return this.#socket.destroyed;
  }

  /** @param head of the request, as `requestHead` writes it */
  send(request: ForwardRequest, { text, bodyBytes }: SentHead, taker: AnswerTaker): void {
    const { body } = request;
    this.#request = request;
    this.#taker = taker;
    this.#head = null;
    this.#headBytes = 0;
    this.#isHeard = false;
    this.#isSent = body === null || body instanceof Uint8Array;
    this.#activeAt = performance.now();
    this.#sentAt = this.#activeAt;
    if (body === null) {
      this.#socket.write(text, 'latin1');
    } else if (body instanceof Uint8Array) {
      this.#socket.cork();
      this.#socket.write(text, 'latin1');
      this.#socket.write(body);
      this.#socket.uncork();
    } else {
      this.#socket.write(text, 'latin1');
      this.#sender = new BodySender(this.#socket, body, bodyBytes, {
        sent: () => {
          this.#isSent = true;
          this.#activeAt = performance.now();
          this.#sentAt = this.#activeAt;
        },
        failed: (error) => this.fail(error),
      });
    }
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#activeAt = performance.now();
    this.#socket.resume();
  }

  /** Ends the exchange and the connection. */
  fail(error: Error, isUnheard = false): void {
    const taker = this.#taker;
    this.close();
    taker?.failed(error, isUnheard);
  }

  close(): void {
    this.#taker = null;
    this.#sender?.stop();
    this.#sender = null;
    this.#keptUntil = 0;
    this.#socket.destroy();
    this.#changed(this);
  }

  /** Aborts an overdue exchange, and closes an idle connection. */
  expire(now: number): void {
    if (this.#taker === null) {
      if (now >= this.#keptUntil) this.close();
      return;
    }
    const reason = this.#request === null ? null : this.#lateness(this.#request, now);
    if (reason !== null) this.fail(new HttpFailure('ETIMEDOUT', reason));
  }

  /** Why the exchange is overdue; null if it is not. */
  #lateness(
    { headTimeoutMs, idleTimeoutMs, deadline }: ForwardRequest,
    now: number,
  ): string | null {
    if (now >= deadline)
      return 'The call exceeded its time limit, from its start to its last byte.';
    if (this.#head === null && this.#isSent && now - this.#sentAt >= headTimeoutMs) {
      return `The provider did not send the head of its response within ${headTimeoutMs} ms.`;
    }
    const isHeadDue = this.#head === null && this.#isSent;
    const isProviderDue = !this.#isPaused && (this.#isSent || this.#socket.writableNeedDrain);
    if (isHeadDue || !isProviderDue || now - this.#activeAt < idleTimeoutMs) return null;
    return `The provider sent nothing for ${idleTimeoutMs} ms.`;
  }

  #read(bytes: Buffer): void {
    this.#activeAt = performance.now();
    this.#isHeard = true;
    try {
      // Unsolicited bytes belong to no exchange and must not become part of the next response.
      if (this.#taker === null) this.close();
      else if (this.#head === null) this.#readHead(bytes);
      else this.#readBody(bytes);
    } catch (error) {
      this.fail(error as Error);
    }
  }

  #readHead(bytes: Buffer): void {
    const all = this.#begun === null ? bytes : Buffer.concat([this.#begun, bytes]);
    const from = this.#begun === null ? 0 : Math.max(0, this.#begun.length - 3);
    const end = all.indexOf(headEnd, from);
    const size = this.#headBytes + (end < 0 ? all.length : end);
    if (size > headBytesMax) throw notHttp(`a head above ${headBytesMax} bytes`);
    this.#begun = end < 0 ? all : null;
    if (end < 0) return;
    const head = parseAnswerHead(all.toString('latin1', 0, end), this.#request?.method ?? '');
    const rest = all.subarray(end + headEnd.length);
    if (head.status >= 200) {
      this.#begin(head, rest);
      return;
    }
    if (head.status === 101) throw notHttp('a switch of protocols that was not requested');
    this.#headBytes = size;
    if (rest.length > 0) this.#readHead(rest);
  }

  #begin(head: AnswerHead, rest: Buffer): void {
    const { framing } = head;
    this.#head = head;
    this.#left = framing.kind === 'length' ? framing.bytes : 0;
    this.#chunks =
      framing.kind === 'chunked' ? new ChunkedBody((piece) => this.#give(piece, false)) : null;
    const taker = this.#taker;
    if (taker?.head(head) === false) {
      this.close();
      taker.end();
    } else if (this.#taker === null) {
      return;
    } else if (framing.kind === 'length' && framing.bytes === 0) {
      this.#complete(rest.length);
    } else if (rest.length > 0) {
      this.#readBody(rest);
    }
  }

  #readBody(bytes: Buffer): void {
    if (this.#chunks !== null) {
      const used = this.#chunks.take(bytes);
      if (this.#chunks.isComplete) this.#complete(bytes.length - used);
    } else if (this.#head?.framing.kind === 'close') {
      this.#give(bytes, false);
    } else {
      const used = Math.min(bytes.length, this.#left);
      this.#left -= used;
      this.#give(used === bytes.length ? bytes : bytes.subarray(0, used), this.#left === 0);
      if (this.#left === 0) this.#complete(bytes.length - used);
    }
  }

  #give(piece: Buffer, isLast: boolean): void {
    const isReady = this.#taker?.data(piece, isLast) ?? true;
    if (isReady || isLast || this.#isPaused) return;
    this.#isPaused = true;
    this.#socket.pause();
  }

  /** @param extra bytes after the response */
  #complete(extra: number): void {
    const taker = this.#taker;
    if (taker === null) return;
    const keptMs = this.#head?.keptMs ?? 0;
    if (keptMs > 0 && extra === 0 && this.#isSent) {
      this.#taker = null;
      this.#sender = null;
      this.resume();
      this.#keptUntil = this.#activeAt + keptMs;
      // Free only once all bytes that have arrived are read: a byte after the response closes the connection.
      setImmediate(() => this.#changed(this));
    } else {
      this.close();
    }
    taker.end();
  }

  #closed(error: Error | null): void {
    if (this.#taker !== null && error === null && this.#head?.framing.kind === 'close') {
      this.#complete(0);
      return;
    }
    const message = 'The connection closed before the end of the response.';
    this.fail(error ?? new HttpFailure('ECONNRESET', message), !this.#isHeard);
  }
}

interface SenderOutcome {
  sent(): void;
  failed(error: Error): void;
}

/** Sends a stream as the body of a request, with backpressure of the socket. */
class BodySender {
  readonly #socket: Socket;
  readonly #body: NodeJS.ReadableStream;
  /** Expected length; null: in chunks. */
  readonly #bytes: number | null;
  readonly #outcome: SenderOutcome;
  #count = 0;
  #isOver = false;

  constructor(
    socket: Socket,
    body: NodeJS.ReadableStream,
    bytes: number | null,
    outcome: SenderOutcome,
  ) {
    this.#socket = socket;
    this.#body = body;
    this.#bytes = bytes;
    this.#outcome = outcome;
    socket.on('drain', this.#resume);
    body.on('data', this.#send);
    body.once('end', this.#end);
    body.once('error', this.#fail);
    body.once('close', this.#close);
  }

  /** Stops sending; drains the rest of the body. */
  stop(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#socket.off('drain', this.#resume);
    this.#body.off('data', this.#send).off('end', this.#end).off('close', this.#close);
    this.#body.resume();
  }

  readonly #resume = (): void => {
    this.#body.resume();
  };

  readonly #send = (piece: Buffer): void => {
    if (piece.length === 0) return;
    this.#count += piece.length;
    if (this.#bytes !== null && this.#count > this.#bytes) {
      this.#fail(mismatch());
      return;
    }
    this.#socket.cork();
    if (this.#bytes === null) this.#socket.write(`${piece.length.toString(16)}\r\n`, 'latin1');
    const isReady = this.#socket.write(piece);
    if (this.#bytes === null) this.#socket.write('\r\n', 'latin1');
    this.#socket.uncork();
    if (!isReady) this.#body.pause();
  };

  readonly #end = (): void => {
    if (this.#bytes !== null && this.#count !== this.#bytes) {
      this.#fail(mismatch());
      return;
    }
    if (this.#bytes === null) this.#socket.write('0\r\n\r\n', 'latin1');
    this.stop();
    this.#outcome.sent();
  };

  readonly #close = (): void => {
    this.#fail(new HttpFailure('ERR_CANCELED', 'The request body ended early.'));
  };

  readonly #fail = (error: Error): void => {
    if (this.#isOver) return;
    this.stop();
    this.#outcome.failed(error);
  };
}

const mismatch = (): HttpFailure =>
  new HttpFailure('ERR_BODY_LENGTH', 'The request body does not have its declared length.');
