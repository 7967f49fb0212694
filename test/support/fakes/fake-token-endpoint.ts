import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface TokenEndpointOptions {
  /** Whether each refresh gives another refresh token and ends the one before (RFC 9700 section 4.14.2). */
  readonly isRotating: boolean;
  /** Seconds. */
  readonly expiresIn?: number;
}

/** An answer as a provider may send it, JSON or not. */
export interface PlannedAnswer {
  readonly status: number;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The refusal of a refresh token (RFC 6749 section 5.2). */
export const invalidGrant: PlannedAnswer = { status: 400, body: '{"error":"invalid_grant"}' };

/** A planned answer, or one of the endpoint's own, whose body is JSON. */
interface Judgment {
  readonly status: number;
  readonly body?: string | object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What became of one request. */
export interface TokenGrant {
  readonly refreshToken: string;
  readonly outcome: 'granted' | 'unknown_token' | 'reused_token' | 'planned';
}

/**
 * An OAuth 2 token endpoint that keeps the rules: one client, refresh tokens that are known, and where they
 * rotate, a family that ends when one of them is shown twice.
 */
export interface FakeTokenEndpoint extends AsyncDisposable {
  readonly url: string;
  readonly hostPort: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly grants: TokenGrant[];
  /** A first refresh token, as an authorization would have given it. */
  newFamily(): string;
  /** Answers the next requests with these; a status alone is temporary. */
  plan(...answers: (number | PlannedAnswer)[]): void;
  /** Requests wait until the promise is resolved. */
  hold(until: Promise<unknown>): void;
  /** Resolves when so many requests have come. */
  came(requests: number): Promise<void>;
}

export async function openFakeTokenEndpoint({
  isRotating,
  expiresIn = 3600,
}: TokenEndpointOptions): Promise<FakeTokenEndpoint> {
  const clientId = `client-${randomBytes(4).toString('hex')}`;
  const clientSecret = randomBytes(16).toString('hex');
  const live = new Map<string, string>();
  const used = new Map<string, string>();
  const grants: TokenGrant[] = [];
  const planned: (number | PlannedAnswer)[] = [];
  const arrivals: { at: number; resolve: () => void }[] = [];
  let arrived = 0;
  let held: Promise<unknown> = Promise.resolve();

  const newToken = (family: string): string => {
    const token = `rt-${randomBytes(16).toString('hex')}`;
    live.set(token, family);
    return token;
  };
  const judge = (shown: string): Judgment => {
    const answer = planned.shift();
    if (answer !== undefined) {
      grants.push({ refreshToken: shown, outcome: 'planned' });
      if (typeof answer !== 'number') return answer;
      return { status: answer, body: { error: 'temporarily_unavailable' } };
    }
    const family = live.get(shown);
    if (family === undefined) {
      const stolen = used.get(shown);
      if (stolen !== undefined)
        for (const [token, of] of live) if (of === stolen) live.delete(token);
      const outcome = stolen === undefined ? 'unknown_token' : 'reused_token';
      grants.push({ refreshToken: shown, outcome });
      return { status: 400, body: { error: 'invalid_grant' } };
    }
    grants.push({ refreshToken: shown, outcome: 'granted' });
    if (isRotating) {
      live.delete(shown);
      used.set(shown, family);
    }
    return {
      status: 200,
      body: {
        access_token: `at-${createHash('sha256').update(`${shown}${grants.length}`).digest('hex')}`,
        token_type: 'Bearer',
        expires_in: expiresIn,
        ...(isRotating ? { refresh_token: newToken(family) } : {}),
      },
    };
  };

  const answer = async (request: IncomingMessage): Promise<Judgment> => {
    const form = new URLSearchParams(await textOf(request));
    arrived += 1;
    for (const { at, resolve } of arrivals) if (arrived >= at) resolve();
    await held;
    const isClient =
      form.get('client_id') === clientId && form.get('client_secret') === clientSecret;
    if (!isClient) return { status: 401, body: { error: 'invalid_client' } };
    if (form.get('grant_type') !== 'refresh_token') {
      return { status: 400, body: { error: 'unsupported_grant_type' } };
    }
    return judge(form.get('refresh_token') ?? '');
  };

  const server = createServer((request, response) => {
    void answer(request).then(({ status, body, headers }) => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const hostPort = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${hostPort}/token`,
    hostPort,
    clientId,
    clientSecret,
    grants,
    newFamily: () => newToken(randomBytes(8).toString('hex')),
    plan: (...answers) => void planned.push(...answers),
    hold: (until) => {
      held = until;
    },
    came: (requests) =>
      new Promise((resolve) => {
        if (arrived >= requests) resolve();
        else arrivals.push({ at: requests, resolve });
      }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
