import type { Socket } from 'node:net';
import { HttpFailure } from '#ports/http-client.ts';

export interface SenderOutcome {
  sent(): void;
  failed(error: Error): void;
}

/** Sends a stream as the body of a request, with backpressure of the socket. */
export class BodySender {
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
