import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request for a token, with the fields of its form. */
export interface TokenCall {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly form: Readonly<Record<string, string>>;
}

export interface ClientTokenEndpoint extends AsyncDisposable {
  readonly url: string;
  readonly host: string;
  readonly calls: readonly TokenCall[];
  /** Set by a test; otherwise the token is `token-1`, `token-2`, … for an hour. */
  respond: ((response: ServerResponse, call: TokenCall) => void) | null;
}

/** A token endpoint for client credentials (RFC 6749 section 4.4) that gives anybody a token, or does what a test wants. */
export async function openClientTokenEndpoint(): Promise<ClientTokenEndpoint> {
  const calls: TokenCall[] = [];
  const endpoint: Pick<ClientTokenEndpoint, 'respond'> = { respond: null };
  const server = createServer((request, response) => {
    void request.toArray().then((chunks) => {
      const text = Buffer.concat(chunks as Buffer[]).toString();
      const form = Object.fromEntries(new URLSearchParams(text));
      const call = { path: request.url ?? '/', headers: request.headers, form };
      calls.push(call);
      if (endpoint.respond !== null) {
        endpoint.respond(response, call);
        return;
      }
      const access_token = `token-${calls.length}`;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ access_token, token_type: 'Bearer', expires_in: 3600 }));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return Object.assign(endpoint, {
    url: `http://${host}`,
    host,
    calls,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}
