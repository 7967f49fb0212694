import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One address in front of gateways that replace each other, as a load balancer has it. */
export interface FrontDoor extends AsyncDisposable {
  readonly url: string;
  /** GET requests that were answered 503 here, because no gateway answered. */
  readonly refusedReads: number;
  /** Requests go there from now on; null: they are answered 503 with `Retry-After`. */
  leadTo(gateway: { readonly url: string } | null): void;
}

export async function openFrontDoor(): Promise<FrontDoor> {
  let target: string | null = null;
  let refusedReads = 0;
  const server = createServer((request, response) => {
    void pass(request, response, target).then((isPassed) => {
      if (!isPassed && request.method === 'GET') refusedReads += 1;
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get refusedReads() {
      return refusedReads;
    },
    leadTo(gateway) {
      target = gateway?.url ?? null;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const passedOn = ['authorization', 'content-type', 'provider-config-key', 'connection-id'] as const;

const passedBack = ['content-type', 'retry-after'] as const;

/** Whether a gateway has answered. */
async function pass(
  request: IncomingMessage,
  response: ServerResponse,
  target: string | null,
): Promise<boolean> {
  const body = Buffer.concat(await request.toArray());
  const { method = 'GET', url = '/' } = request;
  const headers = passedOn.flatMap((name) => {
    const value = request.headers[name]?.toString();
    return value === undefined ? [] : [[name, value] as const];
  });
  try {
    if (target === null) throw new Error('no gateway');
    const sent = { method, headers: Object.fromEntries(headers) };
    const answer = await fetch(target + url, body.length === 0 ? sent : { ...sent, body });
    const text = await answer.text();
    for (const name of passedBack) {
      const value = answer.headers.get(name);
      if (value !== null) response.setHeader(name, value);
    }
    response.writeHead(answer.status).end(text);
    return true;
  } catch {
    response.writeHead(503, { 'retry-after': '1' }).end();
    return false;
  }
}
