import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { headersOfEveryAnswer } from '#http/cors.ts';
import { errorAnswer } from '#http/error-response.ts';
import { hostAndPort } from '#http/host-and-port.ts';
import { createMessageServer } from '#http/message-server.ts';
import { withoutPathSlash } from '#http/request-target.ts';
import { GatewayError } from '#kernel/errors.ts';
import { healthResponse, readyResponse } from '#modules/operations/health/responses.ts';
import type { ProcessReports } from '#modules/operations/services.ts';

export interface HealthServerOptions {
  /** Reasons why this process cannot do its work; none = ready. */
  readonly readiness: () => readonly string[];
  /** Returns the body of `/metrics`. */
  readonly scrape: ProcessReports['scrape'];
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
}

const requestTimeoutMs = 10_000;

/**
 * For processes without the API: only `/health`, `/ready` and `/metrics`, with the same responses as the API but
 * without authentication.
 */
export async function createHealthServer(
  options: HealthServerOptions,
): Promise<AsyncDisposable & { readonly url: string }> {
  const { readiness, scrape, host, port } = options;
  const { server } = createMessageServer({
    requestTimeout: requestTimeoutMs,
    onRequest(request, response) {
      const path = withoutPathSlash(request.url ?? '/').split('?', 1)[0] ?? '/';
      if (path === '/metrics') {
        void answerMetrics(response, scrape);
        return;
      }
      const { status, body } = answerTo(path, readiness);
      response.writeHead(status, { ...headersOfEveryAnswer, 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    },
  });
  server.listen(port, host);
  await once(server, 'listening');
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://${hostAndPort(host, taken)}`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answerMetrics(
  response: ServerResponse,
  scrape: ProcessReports['scrape'],
): Promise<void> {
  try {
    const { text, mediaType } = await scrape();
    response.writeHead(200, { ...headersOfEveryAnswer, 'content-type': mediaType }).end(text);
  } catch {
    // A thread does not respond: /ready names it.
    response.writeHead(503, headersOfEveryAnswer).end();
  }
}

function answerTo(path: string, readiness: HealthServerOptions['readiness']) {
  if (path === '/health') return healthResponse;
  if (path === '/ready') return readyResponse(readiness());
  const message = 'This process has no API: it serves /health, /ready and /metrics.';
  const fix = 'Send other requests to a process with the role api.';
  const { status, body } = errorAnswer(new GatewayError('not_found', { message, fix }));
  return { status, body: { error: { ...body.error, request_id: randomUUID() } } };
}
