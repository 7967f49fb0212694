import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface RegistryFront extends AsyncDisposable {
  readonly url: string;
  /** `GET /schemas/ids/1` of each request that was passed on. */
  readonly requests: readonly string[];
}

/** Stands before a registry, asks for a user and password where they are given, and notes what is asked. */
export async function startRegistryFront(
  registry: string,
  credentials?: { readonly user: string; readonly password: string },
): Promise<RegistryFront> {
  const requests: string[] = [];
  const { user, password } = credentials ?? {};
  const wanted = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  const passOn = async (request: IncomingMessage) => {
    const { method = 'GET', url = '/', headers } = request;
    requests.push(`${method} ${url}`);
    return fetch(registry + url, {
      method,
      headers: { 'content-type': headers['content-type'] ?? '' },
      ...(method === 'GET' ? {} : { body: await text(request) }),
    });
  };
  const server = createServer((request, response) => {
    void (async () => {
      if (credentials !== undefined && request.headers.authorization !== wanted) {
        response.writeHead(401).end('{"error_code":40101,"message":"Unauthorized"}');
        return;
      }
      const answer = await passOn(request);
      response.writeHead(answer.status, { 'content-type': 'application/json' });
      response.end(await answer.text());
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
