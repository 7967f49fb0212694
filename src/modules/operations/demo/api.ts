import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { browserHeaders, isSameOrigin } from '#http/same-origin.ts';
import type { Clock } from '#kernel/time.ts';
import {
  authorizationOf,
  consentPage,
  problem,
  returnAnswer,
  welcomePage,
  type DemoAnswer,
} from './authorize.ts';
import { DemoContacts } from './contacts.ts';
import { demoApiKey, demoClientId } from './definitions.ts';
import { DemoSubscribers } from './subscribers.ts';
import { DemoTokens, isSame, type IssuedTokens, type KeyedHash } from './tokens.ts';

export interface DemoApiOptions {
  readonly clock: Clock;
  readonly hash: KeyedHash;
  readonly clientSecret: string;
  /** Where it listens, without a trailing slash. */
  readonly url: string;
  /** Without a trailing slash; the gateway learns it when it listens. */
  readonly gatewayUrl: () => string;
}

const bodyBytesMax = 64 * 1024;
const pageMax = 100;
/** One of so many calls to the contacts is answered 429. */
const limitedEvery = 5;

const notFound = problem(404, 'not_found', 'There is nothing here.');
const headersOfAll = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
};

interface Call {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

/** The fake API: OAuth 2.0, contacts in pages with a rate limit, webhooks. It allows no page of another origin. */
export class DemoApi {
  readonly #options: DemoApiOptions;
  readonly #tokens: DemoTokens;
  readonly #contacts: DemoContacts;
  readonly #subscribers: DemoSubscribers;
  #calls = 0;

  constructor(options: DemoApiOptions) {
    const { clock, hash, gatewayUrl } = options;
    this.#options = options;
    this.#tokens = new DemoTokens(clock, hash);
    this.#contacts = new DemoContacts(clock);
    this.#subscribers = new DemoSubscribers(clock, hash, gatewayUrl);
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { status, headers, body } = await this.#answer(request);
    const isPage = typeof body === 'string';
    response.writeHead(status, {
      ...headersOfAll,
      ...(body === undefined
        ? {}
        : { 'content-type': isPage ? 'text/html; charset=utf-8' : 'application/json' }),
      ...headers,
    });
    response.end(isPage || body === undefined ? body : JSON.stringify(body));
  }

  async #answer(request: IncomingMessage): Promise<DemoAnswer> {
    const { url: own } = this.#options;
    // A name that another site resolves to this machine reaches nothing (DNS rebinding).
    if (request.headers.host !== new URL(own).host) {
      return problem(421, 'misdirected_request', `This is ${own}.`);
    }
    const target = request.url ?? '/';
    if (!target.startsWith('/') || !URL.canParse(own + target)) return notFound;
    const text = await readBody(request);
    if (text === null) return problem(413, 'too_large', `At most ${bodyBytesMax} bytes.`);
    const call = {
      method: request.method ?? 'GET',
      url: new URL(own + target),
      headers: request.headers,
      text,
    };
    const { pathname } = call.url;
    if (pathname === '/') return welcomePage;
    if (pathname === '/oauth/authorize') return this.#authorize(call);
    if (pathname === '/oauth/token') return this.#token(call);
    return this.#isAuthorized(call)
      ? this.#resource(call)
      : problem(401, 'invalid_token', 'Send "Authorization: Bearer …" with a valid key or token.');
  }

  #authorize({ method, url, headers, text }: Call): DemoAnswer {
    const authorization = authorizationOf(
      url.searchParams,
      `${this.#options.gatewayUrl()}/oauth/callback`,
    );
    if (authorization === null) {
      return problem(400, 'invalid_request', 'This is not a request of the gateway itself.');
    }
    if (method === 'GET') return consentPage(authorization);
    const publicUrl = this.#options.url;
    const from = browserHeaders.safeParse(headers);
    if (!from.success || !isSameOrigin(from.data, { publicUrl, isChange: true })) {
      return problem(403, 'access_denied', 'Only the page of this provider can answer.');
    }
    if (new URLSearchParams(text).get('answer') !== 'allow') {
      return returnAnswer(authorization, { error: 'access_denied' });
    }
    return returnAnswer(authorization, { code: this.#tokens.code(authorization.challenge) });
  }

  #token({ method, text }: Call): DemoAnswer {
    if (method !== 'POST') return notFound;
    const form = new URLSearchParams(text);
    const get = (name: string): string => form.get(name) ?? '';
    const isClient =
      get('client_id') === demoClientId && isSame(get('client_secret'), this.#options.clientSecret);
    if (!isClient) return problem(401, 'invalid_client', 'The client is unknown.');
    let issued: IssuedTokens | null = null;
    switch (get('grant_type')) {
      case 'authorization_code':
        issued = this.#tokens.exchange(get('code'), get('code_verifier'));
        break;
      case 'refresh_token':
        issued = this.#tokens.refresh(get('refresh_token'));
        break;
      default:
        return problem(400, 'unsupported_grant_type', 'The grant type is unknown.');
    }
    if (issued === null) return problem(400, 'invalid_grant', 'The grant is used or expired.');
    return { status: 200, body: issued };
  }

  #isAuthorized({ headers: { authorization = '' } }: Call): boolean {
    const [scheme = '', token = ''] = authorization.split(' ', 2);
    if (scheme.toLowerCase() !== 'bearer') return false;
    return token === demoApiKey || this.#tokens.isValid(token);
  }

  #resource(call: Call): DemoAnswer {
    const { method, url } = call;
    const [, resource, id, ...rest] = url.pathname.split('/');
    if (rest.length > 0) return notFound;
    if (resource === 'me' && method === 'GET' && id === undefined) {
      return { status: 200, body: { id: 'demo', name: 'Demo account' } };
    }
    if (resource === 'webhook' && method === 'PUT' && id === undefined)
      return this.#subscribe(call);
    if (resource !== 'contacts') return notFound;
    this.#calls += 1;
    if (this.#calls % limitedEvery === 0) {
      const limited = problem(429, 'rate_limited', 'Too many requests: wait a second.');
      return { ...limited, headers: { 'retry-after': '1' } };
    }
    return id === undefined ? this.#list(call) : this.#contact(call, id);
  }

  #subscribe({ text }: Call): DemoAnswer {
    const sent = z.object({ url: z.string() }).safeParse(parsed(text));
    const secret = sent.success ? this.#subscribers.add(sent.data.url) : null;
    if (secret !== null) return { status: 200, body: { secret } };
    return problem(400, 'invalid_request', '"url" must be a webhook URL of this gateway.');
  }

  #list({ method, url }: Call): DemoAnswer {
    if (method !== 'GET') return notFound;
    const limit = Number(url.searchParams.get('limit') ?? pageMax);
    if (!Number.isInteger(limit) || limit < 1 || limit > pageMax) {
      return problem(400, 'invalid_request', `"limit" must be 1 to ${pageMax}.`);
    }
    return { status: 200, body: this.#contacts.page(url.searchParams.get('after'), limit) };
  }

  #contact({ method, text }: Call, id: string): DemoAnswer {
    const contact = this.#contacts.find(id);
    if (contact === null) return problem(404, 'not_found', 'There is no such contact.');
    switch (method) {
      case 'GET':
        return { status: 200, body: contact };
      case 'PATCH': {
        const sent = z.object({ name: z.string().min(1).max(255) }).safeParse(parsed(text));
        if (!sent.success) return problem(400, 'invalid_request', '"name" must be a text.');
        const renamed = this.#contacts.rename(contact, sent.data.name);
        this.#subscribers.publish('contact.updated', renamed);
        return { status: 200, body: renamed };
      }
      case 'DELETE':
        this.#contacts.delete(contact);
        this.#subscribers.publish('contact.deleted', { id });
        return { status: 204 };
      default:
        return notFound;
    }
  }
}

/** Null when it is too large. */
async function readBody(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > bodyBytesMax) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Undefined unless it is JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
