import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createHttpClient } from '#adapters/http-client/undici.ts';
import type { HttpClient } from '#ports/http-client.ts';
import { sayWhenLate } from '../judges/late.ts';

/** One request as it came in. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** What the receiver answers: a status, or `hang` for no answer at all, or `reset` to cut the connection. */
export type Answer = number | 'hang' | 'reset';

export interface WebhookReceiver extends AsyncDisposable {
  readonly url: string;
  readonly received: readonly Received[];
  /** Called with each request; 200 unless set. */
  answer: (request: Received, count: number) => Answer;
  /** Resolves with the requests when there are so many. */
  got(count: number, path?: string): Promise<Received[]>;
}

/** An application's server for webhooks on a free port of this machine. */
export async function openWebhookReceiver(): Promise<WebhookReceiver> {
  const received: Received[] = [];
  const waiting = new Set<() => void>();
  const receiver = { answer: (_request: Received, _count: number): Answer => 200 };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const one = { path: request.url ?? '/', headers: request.headers, body };
      received.push(one);
      const answer = receiver.answer(one, received.filter(({ path }) => path === one.path).length);
      if (answer === 'reset') request.socket.destroy();
      else if (answer !== 'hang') response.writeHead(answer).end('{}');
      for (const wake of waiting) wake();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const matching = (path: string | undefined) =>
    received.filter((one) => path === undefined || one.path === path);
  return Object.assign(receiver, {
    url: `http://127.0.0.1:${port}`,
    received,
    async got(count: number, path?: string) {
      using _ = sayWhenLate(() => `${matching(path).length} of ${count} webhooks came`);
      while (matching(path).length < count) {
        await new Promise<void>((resolve) => {
          const wake = () => {
            waiting.delete(wake);
            resolve();
          };
          waiting.add(wake);
        });
      }
      return matching(path);
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

/** The real way out, allowed to reach this machine. */
export async function openHttpClient(): Promise<HttpClient> {
  return createHttpClient({ allow: ['127.0.0.0/8'] });
}
