import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  readonly method: string;
  /** Path and query as they came. */
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

type Handler = (received: Received, response: ServerResponse) => void;

/** A provider behind the proxy: keeps what it was sent, and answers as a test says for a path. */
export interface EchoUpstream extends AsyncDisposable {
  readonly url: string;
  readonly hostPort: string;
  readonly received: Received[];
  /** For every later request whose path it is; without one the answer is what was received, as JSON. */
  on(path: string, handler: Handler): void;
  /** Sees the request before its body has come. */
  onHead(path: string, handler: (request: IncomingMessage, response: ServerResponse) => void): void;
}

export async function openEchoUpstream(): Promise<EchoUpstream> {
  const received: Received[] = [];
  const handlers = new Map<string, Handler>();
  const heads = new Map<string, (request: IncomingMessage, response: ServerResponse) => void>();
  const server = createServer((request, response) => {
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    const head = heads.get(path);
    if (head !== undefined) {
      head(request, response);
      return;
    }
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const all: Received = { method, url, headers, body: Buffer.concat(chunks) };
      received.push(all);
      const handler = handlers.get(path);
      if (handler !== undefined) handler(all, response);
      else response.end(JSON.stringify({ method, url, headers, body: all.body.toString() }));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const hostPort = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${hostPort}`,
    hostPort,
    received,
    on: (path, handler) => void handlers.set(path, handler),
    onHead: (path, handler) => void heads.set(path, handler),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
