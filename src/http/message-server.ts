import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Duplex } from 'node:stream';
import { errorHints } from '#kernel/error-hints.ts';
import { limits } from '#kernel/limits.ts';
import { headersOfEveryAnswer } from './cors.ts';

/** How long the rest of a refused message is read away, so that the client gets to see the response. */
const drainMs = 5_000;

export interface MessageServerOptions extends Pick<
  ServerOptions,
  'connectionsCheckingInterval' | 'optimizeEmptyRequests' | 'requestTimeout'
> {
  /** A request whose framing is known. */
  readonly onRequest: (request: IncomingMessage, response: ServerResponse) => void;
  /** An upgrade that `isUpgrade` accepts, once the responses before it are sent. Without it none is accepted. */
  readonly onUpgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  readonly isUpgrade?: (request: IncomingMessage) => boolean;
}

export interface MessageServer {
  readonly server: Server;
  /** Sends the one response to a request whose body does not arrive, and closes the connection. */
  readonly refuseBody: (request: IncomingMessage, response: ServerResponse, status: number) => void;
}

/**
 * An HTTP/1.1 server that sends one response to each request, in their order, also where a message is not valid: the
 * parser reports a broken body after the request is handed over, and a broken head while earlier requests are under way.
 * A connection with such a message is closed, and nothing that follows on it is a request.
 */
export function createMessageServer(options: MessageServerOptions): MessageServer {
  const { onRequest, onUpgrade, isUpgrade = () => false, ...own } = options;
  const connections = new Connections();
  const accepts: ServerOptions = {
    ...own,
    maxHeaderSize: limits.requestHeaderBytesMax,
    shouldUpgradeCallback: isUpgrade,
    // Node would answer on its own, past the order of the responses.
    requireHostHeader: false,
  };
  const server = createServer(accepts, (request, response) => {
    if (!connections.accepts(request, response)) return;
    if (isFramingKnown(request)) onRequest(request, response);
    else connections.refuse(request.socket, 400);
  });
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    if (connections.accepts(request, response)) connections.refuse(request.socket, 417);
  });
  server.on('connect', (_request, socket) => {
    socket.on('error', () => socket.destroy());
    connections.refuse(socket, 400);
  });
  if (onUpgrade !== undefined) {
    server.on('upgrade', (request, socket, head: Buffer) => {
      socket.on('error', () => socket.destroy());
      connections.afterResponses(socket, () => onUpgrade(request, socket, head));
    });
  }
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET') socket.destroy();
    else connections.refuse(socket, statusOf(error));
  });
  return {
    server,
    refuseBody(request, response, status) {
      // Its handler does not run if the body is whole after all.
      request.removeAllListeners('data').removeAllListeners('end').resume();
      if (!response.headersSent) response.statusCode = status;
      connections.refuse(request.socket, status);
    },
  };
}

/** What was handed over on each connection, and which of them take no more requests. */
class Connections {
  readonly #latest = new WeakMap<Duplex, ServerResponse>();
  readonly #refused = new WeakSet<Duplex>();

  /** Whether the message is a request; false behind one that was refused. */
  accepts({ socket }: IncomingMessage, response: ServerResponse): boolean {
    if (this.#refused.has(socket)) return false;
    this.#latest.set(socket, response);
    return true;
  }

  /** Runs the task when every response on the connection is sent, or cannot be sent any more. */
  afterResponses(socket: Duplex, task: () => void): void {
    const latest = this.#latest.get(socket);
    if (latest === undefined || latest.destroyed) task();
    else latest.once('close', task);
  }

  /** Refuses the message that is being read, and closes the connection. */
  refuse(socket: Duplex, status: number): void {
    if (this.#refused.has(socket)) return;
    this.#refused.add(socket);
    const latest = this.#latest.get(socket);
    if (latest === undefined || latest.req.complete) {
      this.afterResponses(socket, () => endWith(socket, responseOf(status)));
    } else if (!latest.headersSent) {
      if (latest.socket !== null || latest.destroyed) endWith(socket, responseOf(status));
      else latest.once('socket', () => endWith(socket, responseOf(status)));
    } else if (latest.writableEnded) {
      this.afterResponses(socket, () => endWith(socket, ''));
    } else {
      // Half a response: only a cut says so.
      socket.destroy();
    }
  }
}

/**
 * Whether it is sure where the request ends. Node undoes `chunked` and leaves every other coding in the body, as if
 * that had not been there (RFC 9112 section 6.1). HTTP/1.1 requires a host (section 3.2).
 */
function isFramingKnown({ headers, httpVersion }: IncomingMessage): boolean {
  const { 'transfer-encoding': coding, host } = headers;
  if (host === undefined && httpVersion === '1.1') return false;
  return coding === undefined || (coding.toLowerCase() === 'chunked' && httpVersion === '1.1');
}

function statusOf({ code }: NodeJS.ErrnoException): number {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 408;
  return code === 'HPE_HEADER_OVERFLOW' ? 431 : 400;
}

const body = JSON.stringify({
  error: {
    code: 'invalid_request',
    message: 'The request is not valid HTTP or was sent too slowly.',
    fix: errorHints.invalid_request,
  },
});

const head = Object.entries({
  ...headersOfEveryAnswer,
  'content-type': 'application/json',
  connection: 'close',
  'content-length': Buffer.byteLength(body),
})
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join('');

const responseOf = (status: number): string =>
  `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${head}\r\n${body}`;

/** Closed even where the client goes on sending. */
function endWith(socket: Duplex, text: string): void {
  if (!socket.writable) return;
  socket.end(text);
  drain(socket);
}

/** Reads the rest away for a limited time, then cuts the connection. */
export function drain(source: IncomingMessage | Duplex): void {
  const timer = setTimeout(() => source.destroy(), drainMs);
  timer.unref();
  source.once('close', () => clearTimeout(timer));
  source.resume();
}
