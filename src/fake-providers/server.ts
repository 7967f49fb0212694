import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Provider } from '#modules/connections/providers/definition.ts';
import { Refusal, type Answer, type ReceivedRequest, type Role } from './exchange.ts';
import { openPlay, type Play, type PlayedProvider } from './play.ts';
import type { PlayOptions } from './rules.ts';

/**
 * A server that plays providers of the catalog's format, and keeps the rules of their authentication modes: what a real
 * provider would refuse it refuses, and says why in `asked`.
 */
export interface FakeAuth extends AsyncDisposable {
  readonly url: string;
  /** For `SVC_EGRESS_ALLOW`. */
  readonly hostPort: string;
  /** Each name once. */
  play(provider: Provider, options?: PlayOptions): PlayedProvider;
  /** Everything played so far, for a file of `SVC_PROVIDERS`. */
  definitions(): Record<string, object>;
}

/** Over TLS, for clients of these certificates alone (PEM). */
export interface FakeAuthTls {
  readonly certificate: string;
  readonly privateKey: string;
  readonly clients: readonly string[];
}

export async function openFakeAuth(tls: FakeAuthTls | null = null): Promise<FakeAuth> {
  const plays = new Map<string, Play>();
  const listen = (request: IncomingMessage, response: ServerResponse) => {
    void answer(request, response);
  };
  const server = tls === null ? createServer(listen) : createTlsServer(optionsOf(tls), listen);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const hostPort = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const url = `${tls === null ? 'http' : 'https'}://${hostPort}`;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = Buffer.concat(await request.toArray()).toString();
    const address = new URL(request.url ?? '/', url);
    const segments = address.pathname.split('/').slice(1);
    // RFC 8414 section 3.1: the path of the issuer follows the name of the document.
    const [name = '', role = ''] = segments[0] === '.well-known' ? segments.slice(2) : segments;
    const play = plays.get(name);
    if (play === undefined) {
      reply(response, { status: 404, body: { error: 'not_found' } });
      return;
    }
    const { method = '', headers } = request;
    const incoming: ReceivedRequest = { role: role as Role, method, url: address, headers, body };
    try {
      const answered = await play.answer(incoming);
      play.note(incoming, answered.isLimit === true ? 'limited' : 'granted');
      reply(response, answered);
    } catch (error) {
      const refused =
        error instanceof Refusal ? error : new Refusal(500, 'server_error', String(error));
      play.note(incoming, refused.message);
      const { status, headers: more, error: code } = refused;
      reply(response, { status, headers: more, body: { error: code } });
    }
  }

  return {
    url,
    hostPort,
    play(provider, options = {}) {
      if (plays.has(provider.name)) throw new Error(`${provider.name} is played already`);
      const play = openPlay(provider, `${url}/${provider.name}`, options);
      plays.set(provider.name, play);
      return play.played;
    },
    definitions: () =>
      Object.fromEntries(
        [...plays].map(([name, { played }]) => {
          const { name: _name, ...fields } = played.definition;
          return [name, fields];
        }),
      ),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const optionsOf = ({ certificate, privateKey, clients }: FakeAuthTls) => ({
  cert: certificate,
  key: privateKey,
  ca: [...clients],
  requestCert: true,
  rejectUnauthorized: true,
});

function reply(response: ServerResponse, { status, headers = {}, body, isHalf }: Answer): void {
  const isText = typeof body === 'string';
  response.writeHead(status, {
    'content-type': isText ? 'text/plain' : 'application/json',
    ...headers,
  });
  const text = isText ? body : JSON.stringify(body);
  if (isHalf === true) response.write(text.slice(0, text.length / 2));
  else response.end(text);
}

/** The browser goes to the address and is sent back: the query of the redirect. */
export async function visit(address: string): Promise<Record<string, string>> {
  return Object.fromEntries(new URL(await visitRedirect(address)).searchParams);
}

/** Where the browser is sent from the address. */
export async function visitRedirect(address: string): Promise<string> {
  const answer = await fetch(address, { redirect: 'manual' });
  const location = answer.headers.get('location');
  if (location === null) throw new Error(`no redirect: ${answer.status} ${await answer.text()}`);
  return location;
}
