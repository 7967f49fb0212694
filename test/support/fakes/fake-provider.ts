import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Row {
  readonly id: string | number;
  readonly [field: string]: unknown;
}

/** An answer that comes instead of the usual one, once. */
export interface Planned {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface AskedOf {
  readonly method: string;
  /** With its query, without the account. */
  readonly path: string;
  readonly authorization: string | undefined;
  readonly traceparent: string | undefined;
}

/** One customer of the provider; tests beside one another do not see each other's. */
export interface Account {
  /** Listed by cursor at `/contacts`, by offset at `/deals`, by link at `/notes`. */
  contacts: Row[];
  deals: Row[];
  notes: Row[];
  /** What the sync `scripted` does, and what it reported. */
  script: object[];
  readonly results: { step: string; result: unknown }[];
  /** `/steps/<n>` answers when n is not above it. */
  stepsOpen: number;
  readonly asked: AskedOf[];
  plan(path: string, ...answers: Planned[]): void;
  /** Resolves when a request for the path has come so many times. */
  came(path: string, times?: number): Promise<void>;
  /** Lets `/steps` up to n answer, also those that wait. */
  openSteps(n: number): void;
}

export interface FakeProvider extends AsyncDisposable {
  readonly url: string;
  readonly hostPort: string;
  readonly apiKey: string;
  account(name: string): Account;
}

/**
 * A provider's API with an API key, pages of three kinds, and answers that a test plans.
 * @param port default: a free one
 */
export async function openFakeProvider(apiKey: string, port = 0): Promise<FakeProvider> {
  const accounts = new Map<string, Customer>();
  const account = (name: string): Customer => {
    const known = accounts.get(name) ?? new Customer();
    accounts.set(name, known);
    return known;
  };
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://provider');
    const [, name = '', ...rest] = url.pathname.split('/');
    void account(name).answer(request, response, `/${rest.join('/')}`, url, apiKey);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const hostPort = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${hostPort}`,
    hostPort,
    apiKey,
    account,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

class Customer implements Account {
  contacts: Row[] = [];
  deals: Row[] = [];
  notes: Row[] = [];
  script: object[] = [];
  readonly results: { step: string; result: unknown }[] = [];
  stepsOpen = 0;
  readonly asked: AskedOf[] = [];
  readonly #plans = new Map<string, Planned[]>();
  readonly #changed = new EventTarget();

  plan(path: string, ...answers: Planned[]): void {
    this.#plans.set(path, [...(this.#plans.get(path) ?? []), ...answers]);
  }

  async came(path: string, times = 1): Promise<void> {
    const isThere = () => this.asked.filter((one) => pathOf(one.path) === path).length >= times;
    await this.#until(isThere);
  }

  openSteps(n: number): void {
    this.stepsOpen = n;
    this.#changed.dispatchEvent(new Event('change'));
  }

  async answer(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    { search, searchParams }: URL,
    apiKey: string,
  ): Promise<void> {
    const text = Buffer.concat(await request.toArray()).toString();
    const { authorization, traceparent } = request.headers;
    this.asked.push({
      method: request.method ?? '',
      path: `${path}${search}`,
      authorization,
      traceparent: traceparent?.toString(),
    });
    this.#changed.dispatchEvent(new Event('change'));
    const planned = this.#plans.get(path)?.shift();
    if (planned !== undefined) reply(response, planned);
    else if (authorization !== `Bearer ${apiKey}`) {
      reply(response, { status: 401, body: { error: 'unauthorized' } });
    } else if (path === '/results') {
      this.results.push(JSON.parse(text) as Customer['results'][number]);
      reply(response, { status: 201, body: {} });
    } else if (path.startsWith('/steps/')) {
      const step = Number(path.slice('/steps/'.length));
      await this.#until(() => step <= this.stepsOpen || response.closed);
      reply(response, { status: 200, body: { step } });
    } else {
      reply(
        response,
        this.#page(path, searchParams, request.headers.host ?? '', request.url ?? ''),
      );
    }
  }

  #page(path: string, query: URLSearchParams, host: string, url: string): Planned {
    const limit = Number(query.get('limit') ?? 2);
    if (path === '/contacts') {
      const from = Number(query.get('cursor') ?? 0);
      const next = from + limit < this.contacts.length ? String(from + limit) : null;
      return { status: 200, body: { data: this.contacts.slice(from, from + limit), next } };
    }
    if (path === '/deals') {
      const from = Number(query.get('offset') ?? 0);
      return { status: 200, body: { page: { items: this.deals.slice(from, from + limit) } } };
    }
    if (path === '/notes') {
      const page = Number(query.get('page') ?? 0);
      const address = new URL(url, `http://${host}`);
      address.searchParams.set('page', String(page + 1));
      const hasNext = (page + 1) * limit < this.notes.length;
      const headers = { link: `<${address.href}>; rel="next"` };
      const body = this.notes.slice(page * limit, (page + 1) * limit);
      return { status: 200, body, ...(hasNext ? { headers } : {}) };
    }
    if (path === '/script') return { status: 200, body: { steps: this.script } };
    return { status: 404, body: { error: `nothing at ${path}` } };
  }

  async #until(isTrue: () => boolean): Promise<void> {
    while (!isTrue()) {
      await new Promise((resolve) => {
        this.#changed.addEventListener('change', resolve, { once: true });
      });
    }
  }
}

const pathOf = (pathAndQuery: string): string => pathAndQuery.split('?', 1)[0] ?? '';

function reply(response: ServerResponse, { status, headers = {}, body }: Planned): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(body === undefined ? '' : JSON.stringify(body));
}

/** Definitions of the provider for `SVC_PROVIDERS`; the connection's configuration names the account. */
export function definitionsOf({ url }: Pick<FakeProvider, 'url'>): object {
  const account = { type: 'string', title: 'Account', description: 'The customer.' };
  const apiKey = { type: 'string', title: 'API key', description: 'The key.', secret: true };
  const connection_config = { account };
  const common = { categories: ['crm'], docs: 'https://crm.example', connection_config };
  const base = `${url}/\${connectionConfig.account}`;
  const retry = { after: 'retry-after' };
  return {
    crm: {
      ...common,
      display_name: 'CRM',
      auth_mode: 'API_KEY',
      credentials: { apiKey },
      proxy: { base_url: base, headers: { authorization: 'Bearer ${apiKey}' }, retry },
    },
    'crm-basic': {
      ...common,
      display_name: 'CRM with a password',
      auth_mode: 'BASIC',
      proxy: { base_url: base, verification: { endpoints: ['/verify'] } },
    },
    'crm-oauth': {
      ...common,
      display_name: 'CRM with OAuth',
      auth_mode: 'OAUTH2',
      authorization_url: `${url}/authorize`,
      token_url: `${url}/token`,
      proxy: { base_url: base },
    },
    'crm-open': {
      ...common,
      display_name: 'CRM for all',
      auth_mode: 'NONE',
      proxy: { base_url: base },
    },
  };
}
