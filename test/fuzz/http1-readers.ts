import { request, type IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { Connection } from '#adapters/http-client/http1/connection.ts';
import { forwarded } from '#test/support/fakes/forwarding.ts';
import type { GeneratedAnswer } from './http1-messages.ts';

interface Head {
  readonly status: number;
  readonly reason: string;
  /** Names in lower case and values in turn. */
  readonly headers: readonly string[];
}

/** What a client has made of the bytes so far. */
interface Reading {
  head: Head | null;
  /** In latin1. */
  body: string;
  isComplete: boolean;
}

interface Reader {
  readonly socket: Socket;
  readonly reading: Readonly<Reading>;
  close(): void;
}

/** A socket without a network: what is pushed comes in exactly these pieces, and what is sent is dropped. */
class Wire extends Socket {
  override _read(): void {}
  override _write(_chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    done();
  }
  override _final(done: () => void): void {
    done();
  }
}

const url = new URL('http://provider.example/');
/** Beyond that of the gateway's client, so that only one of the two limits the size of a head. */
const maxHeaderSize = 1024 ** 2;

function gatewayReader(method: string): Reader {
  const socket = new Wire();
  const reading: Reading = { head: null, body: '', isComplete: false };
  const connection = new Connection(socket, () => undefined);
  const sent = { text: `${method} / HTTP/1.1\r\n\r\n`, bodyBytes: 0 };
  connection.send({ ...forwarded(url), method }, sent, {
    head({ status, statusText: reason, headers }) {
      reading.head = { status, reason, headers };
      return true;
    },
    data(piece) {
      reading.body += piece.toString('latin1');
      return true;
    },
    end() {
      reading.isComplete = true;
    },
    failed: () => undefined,
  });
  return { socket, reading, close: () => connection.close() };
}

function nodeReader(method: string): Reader {
  const socket = new Wire();
  const reading: Reading = { head: null, body: '', isComplete: false };
  const sent = request({
    createConnection: () => socket,
    method,
    headers: { connection: 'keep-alive' },
    maxHeaderSize,
  });
  sent.on('error', () => undefined);
  sent.on('upgrade', (_answer, upgraded) => upgraded.destroy());
  sent.on('response', (answer) => read(answer, reading));
  sent.end();
  return { socket, reading, close: () => sent.destroy() };
}

function read(answer: IncomingMessage, reading: Reading): void {
  const { statusCode: status = 0, statusMessage: reason = '', rawHeaders } = answer;
  const headers = rawHeaders.map((text, at) => (at % 2 === 0 ? text.toLowerCase() : text));
  reading.head = { status, reason, headers };
  // What the parser found is noted at once: the stream drops what was not yet read when the parser fails after it.
  const push = answer.push.bind(answer);
  answer.push = (piece: Buffer | null, ...rest) => {
    if (piece !== null) reading.body += piece.toString('latin1');
    return push(piece, ...rest);
  };
  Object.defineProperty(answer, 'complete', {
    get: () => reading.isComplete,
    set: (value: boolean) => (reading.isComplete = value),
  });
  answer.on('error', () => undefined).resume();
}

/** How both clients read an answer: whether the gateway's read it to its end, and where Node's read something else. */
export interface Comparison {
  readonly isAccepted: boolean;
  readonly difference: string | null;
}

/** Gives both clients the same bytes, piece by piece, and compares what they have read after each. */
export async function compareReaders({ method, pieces }: GeneratedAnswer): Promise<Comparison> {
  const [ours, nodes] = [gatewayReader(method), nodeReader(method)];
  try {
    await setImmediate();
    for (const piece of [...pieces, null]) {
      for (const { socket } of [ours, nodes]) {
        socket.push(piece === null ? null : Buffer.from(piece, 'latin1'));
      }
      await setImmediate();
      const difference = differenceOf(ours.reading, nodes.reading);
      if (difference !== null) return { isAccepted: true, difference };
    }
    return { isAccepted: ours.reading.isComplete, difference: null };
  } finally {
    ours.close();
    nodes.close();
  }
}

/** What the gateway's client has passed on by now, Node's must have read as well; it may refuse more. */
function differenceOf(ours: Reading, nodes: Reading): string | null {
  if (ours.head === null) return null;
  const same =
    JSON.stringify(ours.head) === JSON.stringify(nodes.head) &&
    (ours.isComplete
      ? nodes.isComplete && nodes.body === ours.body
      : nodes.body.startsWith(ours.body));
  return same ? null : `ours: ${JSON.stringify(ours)}\nNode: ${JSON.stringify(nodes)}`;
}
