import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { healthAnswer, readyAnswer } from '../modules/health/answers.ts';

export interface HealthServerOptions {
  /** Reasons why this process cannot do its work; none = ready. */
  readonly readiness: () => readonly string[];
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
}

const requestTimeoutMs = 10_000;

/** For processes without the API: `/health` and `/ready` alone, answered as the API answers them. */
export async function createHealthServer(
  options: HealthServerOptions,
): Promise<AsyncDisposable & { readonly url: string }> {
  const { readiness, host, port } = options;
  const server = createServer((request, response) => {
    const { status, body } = answerTo(request.url ?? '/', readiness);
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  });
  server.requestTimeout = requestTimeoutMs;
  server.listen(port, host);
  await once(server, 'listening');
  const shownHost = host.includes(':') ? `[${host}]` : host;
  return {
    url: `http://${shownHost}:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function answerTo(url: string, readiness: HealthServerOptions['readiness']) {
  const [path] = url.split('?', 1);
  if (path === '/health') return healthAnswer;
  if (path === '/ready') return readyAnswer(readiness());
  const message = 'This process has no API: it answers /health and /ready.';
  return { status: 404, body: { error: { code: 'not_found', message } } };
}
