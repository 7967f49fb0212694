import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hourMs, type Clock } from '#kernel/time.ts';

export interface LongLivedTokenOptions {
  readonly clock: Clock;
  /** Of the tokens that the exchange and the refresh give. */
  readonly lifetimeMs: number;
  /** A token that is younger is refused. */
  readonly minAgeMs: number;
}

/**
 * A provider without refresh tokens: the token of a sign-in lives for an hour and is exchanged for one that lives longer,
 * which is refreshed by itself while it is valid. Everything that it refuses is 400, as its documentation has it.
 */
export interface LongLivedTokens extends AsyncDisposable {
  readonly url: string;
  /** `granted`, or why not, of each call. */
  readonly outcomes: string[];
  isLive(token: unknown): boolean;
  /** A long-lived token of a person who signed in elsewhere, for an import. */
  issue(): { readonly access_token: string; readonly expires_at: string };
}

interface Token {
  readonly isLong: boolean;
  readonly at: number;
  readonly end: number;
}

export async function openLongLivedTokens(
  options: LongLivedTokenOptions,
): Promise<LongLivedTokens> {
  const { clock, lifetimeMs, minAgeMs } = options;
  const tokens = new Map<string, Token>();
  const outcomes: string[] = [];
  const issue = (isLong: boolean, lifeMs: number) => {
    const token = `token-${tokens.size + 1}`;
    const at = clock.now();
    tokens.set(token, { isLong, at, end: at + lifeMs });
    return { access_token: token, token_type: 'bearer', expires_in: lifeMs / 1000 };
  };
  const isLive = (name: unknown): boolean => (tokens.get(String(name))?.end ?? 0) > clock.now();

  const refusalOf = (path: string, query: URLSearchParams): string | null => {
    if (path === '/token') return query.get('code') === 'code' ? null : 'wrong_code';
    const shown = query.get(path === '/exchange' ? 'short_token' : 'access_token');
    const token = tokens.get(shown ?? '');
    if (token === undefined) return 'unknown_token';
    if (!isLive(shown)) return 'expired_token';
    if (path === '/exchange') return token.isLong ? 'long_already' : null;
    if (!token.isLong) return 'short_token';
    return clock.now() - token.at < minAgeMs ? 'too_young' : null;
  };

  const server = createServer((request, response) => {
    void request.toArray().then((parts) => {
      const body = Buffer.concat(parts as Buffer[]).toString();
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://provider.test');
      const sent = new URLSearchParams([...searchParams, ...new URLSearchParams(body)]);
      const refusal = refusalOf(pathname, sent);
      outcomes.push(refusal ?? 'granted');
      const isSignIn = pathname === '/token';
      response.writeHead(refusal === null ? 200 : 400, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify(
          refusal === null
            ? issue(!isSignIn, isSignIn ? hourMs : lifetimeMs)
            : { error: { message: refusal, type: 'OAuthException', code: 190 } },
        ),
      );
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    outcomes,
    isLive,
    issue() {
      const { access_token } = issue(true, lifetimeMs);
      return { access_token, expires_at: new Date(clock.now() + lifetimeMs).toISOString() };
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** How a definition describes it; `min_age_seconds` where the definition knows of it. */
export const longLivedFields = (url: string, minAgeSeconds?: number) => ({
  auth_mode: 'OAUTH2' as const,
  authorization_url: `${url}/authorize`,
  token_url: `${url}/token`,
  token_exchange: {
    url: `${url}/exchange`,
    method: 'GET' as const,
    params: {
      grant_type: 'exchange',
      client_secret: '${clientSecret}',
      short_token: '${accessToken}',
    },
  },
  access_token_refresh: {
    url: `${url}/refresh`,
    method: 'GET' as const,
    params: { grant_type: 'refresh', access_token: '${accessToken}' },
    ...(minAgeSeconds === undefined ? {} : { min_age_seconds: minAgeSeconds }),
  },
});
