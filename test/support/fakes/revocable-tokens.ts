import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface RevocationCall {
  readonly method: string;
  /** Path, with its query. */
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: string;
}

/** A provider whose tokens end by a call (RFC 7009): at `/revoke` in the body or query, at `/tokens/<token>` in the path. */
export interface RevocableTokens extends AsyncDisposable {
  readonly url: string;
  readonly calls: RevocationCall[];
  readonly clientSecret: string;
  /** An access and a refresh token that end together. */
  issue(): { readonly access_token: string; readonly refresh_token: string };
  isLive(accessToken: string): boolean;
  end(token: string): void;
  /** Statuses of the next calls, in place of those planned before; `cut`: no response. */
  plan(...statuses: (number | 'cut')[]): void;
}

export async function openRevocableTokens(): Promise<RevocableTokens> {
  const clientSecret = 'secret-of-the-client+/=';
  const grants = new Map<string, number>();
  const ended = new Set<number>();
  const calls: RevocationCall[] = [];
  const planned: (number | 'cut')[] = [];
  let count = 0;

  const responseTo = ({ path, authorization, body }: RevocationCall) => {
    const { pathname, searchParams } = new URL(path, 'http://provider.test');
    const sent = new URLSearchParams([...searchParams, ...new URLSearchParams(body)]);
    const bearer = /^Bearer (.+)$/.exec(authorization ?? '')?.[1];
    const inPath = /^\/tokens\/(.+)$/.exec(pathname)?.[1];
    const basic = `Basic ${Buffer.from(`client:${encodeURIComponent(clientSecret)}`).toString('base64')}`;
    const isClient =
      authorization === basic ||
      (sent.get('client_id') === 'client' && sent.get('client_secret') === clientSecret);
    if (bearer === undefined && !isClient) return { status: 401, error: 'invalid_client' };
    const token = sent.get('token') ?? inPath ?? bearer ?? '';
    const grant = grants.get(token);
    if (grant === undefined || ended.has(grant)) return { status: 400, error: 'invalid_token' };
    ended.add(grant);
    return { status: 200 };
  };

  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const { method = '', url: path = '' } = request;
      const call = { method, path, authorization: request.headers.authorization, body };
      calls.push(call);
      const plan = planned.shift();
      if (plan === 'cut') {
        request.socket.destroy();
        return;
      }
      const { status, error } = plan === undefined ? responseTo(call) : { status: plan };
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(error === undefined ? {} : { error }));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    clientSecret,
    issue() {
      count += 1;
      const issued = { access_token: `canary-at-${count}`, refresh_token: `canary-rt-${count}` };
      for (const token of Object.values(issued)) grants.set(token, count);
      return issued;
    },
    isLive: (token) => !ended.has(grants.get(token) ?? -1),
    end: (token) => void ended.add(grants.get(token) ?? -1),
    plan: (...statuses) => void planned.splice(0, planned.length, ...statuses),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const bodyOf = async (request: IncomingMessage): Promise<string> =>
  Buffer.concat((await request.toArray()) as Buffer[]).toString();
