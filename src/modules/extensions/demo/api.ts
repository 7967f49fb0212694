import { createHmac, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { browserHeaders, isSameOrigin } from '#http/same-origin.ts';
import type { Clock } from '#kernel/time.ts';
import { formatWebhookSecret } from '#kernel/webhook-secret.ts';
import {
  authorizationOf,
  consentPage,
  problem,
  returnAnswer,
  welcomePage,
  type DemoAnswer,
  DemoTokens,
  isSame,
  type IssuedTokens,
  type KeyedHash,
} from './authorize.ts';
import { demoApiKey, demoClientId } from './definitions.ts';

const subscribersMax = 100;
const sendMs = 10_000;

/** URLs of this gateway that receive a webhook of each change, signed as Standard Webhooks says. */
class DemoSubscribers {
  readonly #secrets = new LRUCache<string, Buffer>({ max: subscribersMax });
  readonly #clock: Clock;
  readonly #hash: KeyedHash;
  readonly #gatewayUrl: () => string;

  constructor(clock: Clock, hash: KeyedHash, gatewayUrl: () => string) {
    this.#clock = clock;
    this.#hash = hash;
    this.#gatewayUrl = gatewayUrl;
  }

  /**
   * @returns the secret that signs, the same each time; null: the URL is not one where this gateway receives webhooks.
   *   Others are refused, because the requests pass no egress guard.
   */
  add(text: string): string | null {
    const own = new URL(this.#gatewayUrl());
    const url = URL.canParse(text) ? new URL(text) : null;
    if (url?.origin !== own.origin || !url.pathname.startsWith('/webhook/')) return null;
    const secret = Buffer.from(this.#hash('demo-webhook', url.href), 'hex');
    this.#secrets.set(url.href, secret);
    return formatWebhookSecret(secret);
  }

  /** Sends to all, once. */
  publish(type: string, data: object): void {
    const body = JSON.stringify({ type, data });
    for (const [url, secret] of this.#secrets) {
      const id = `msg_${randomUUID()}`;
      const seconds = String(Math.floor(this.#clock.now() / 1000));
      const mac = createHmac('sha256', secret).update(`${id}.${seconds}.${body}`).digest('base64');
      const headers = {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': seconds,
        'webhook-signature': `v1,${mac}`,
      };
      const signal = AbortSignal.timeout(sendMs);
      const sent = fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal });
      // The gateway is ending; the next sync reads the change.
      sent.then((response) => response.body?.cancel()).catch(() => undefined);
    }
  }
}

interface DemoContact {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly company: string;
  /** ISO 8601. */
  readonly updated_at: string;
}

const count = 250;
const firstNames = ['Ada', 'Bea', 'Cem', 'Dina', 'Elif', 'Finn', 'Greta', 'Hugo', 'Ines', 'Jan'];
const lastNames = ['Adler', 'Brandt', 'Costa', 'Duval', 'Endo', 'Faber', 'Gomez', 'Hansen'];
const companies = ['Northwind Mills', 'Blue Harbor', 'Oak & Iron', 'Sunline', 'Paper Crane'];
const firstChange = Date.UTC(2026, 0, 1);

const pick = (list: readonly string[], at: number): string => list[at % list.length] ?? '';

function contactAt(at: number): DemoContact {
  const first = pick(firstNames, at);
  const last = pick(lastNames, Math.floor(at / firstNames.length));
  const number = String(at + 1).padStart(3, '0');
  return {
    id: `contact-${number}`,
    name: `${first} ${last}`,
    email: `${first}.${last}.${number}@example.com`.toLowerCase(),
    company: pick(companies, at * 7),
    updated_at: new Date(firstChange + at * 60_000).toISOString(),
  };
}

/** The same contacts at each start; changes are in memory and end with the process. */
class DemoContacts {
  readonly #byId = new Map(
    Array.from({ length: count }, (_, at) => contactAt(at)).map((one) => [one.id, one] as const),
  );
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** In the order of their ids. @param after id of the last contact of the page before; null = the first page */
  page(after: string | null, limit: number): { data: readonly DemoContact[]; next: string | null } {
    const rest = [...this.#byId.values()].filter(({ id }) => after === null || id > after);
    const data = rest.slice(0, limit);
    return { data, next: rest.length > limit ? (data.at(-1)?.id ?? null) : null };
  }

  find(id: string): DemoContact | null {
    return this.#byId.get(id) ?? null;
  }

  rename(contact: DemoContact, name: string): DemoContact {
    const renamed = { ...contact, name, updated_at: new Date(this.#clock.now()).toISOString() };
    this.#byId.set(contact.id, renamed);
    return renamed;
  }

  delete({ id }: DemoContact): void {
    this.#byId.delete(id);
  }
}

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
