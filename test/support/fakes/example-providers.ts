import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The providers of `examples/integrations`, played: each answers what the example functions ask of it. */

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly text: string;
  /** Where the provider is played. */
  readonly origin: string;
}

interface Told {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

type Play = (asked: Asked) => Told | null;

const apiKey = 'key-of-the-examples';
const day = (at: number): string => `2026-01-${String(at).padStart(2, '0')}T08:00:00Z`;
const range = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1);
/** Rows after the first `from`, at most `limit`. */
const slice = <T>(rows: readonly T[], from: number, limit: string | null): T[] =>
  rows.slice(from, from + Number(limit ?? 100));

const github: Play = ({ method, path, query, origin, text }) => {
  if (path !== '/repos/acme/app/issues') return null;
  if (method === 'POST') {
    const { title } = JSON.parse(text) as { title: string };
    if (title === 'disabled') return { status: 410, body: { message: 'Issues are disabled' } };
    return { status: 201, body: { number: 6, html_url: 'https://github.com/acme/app/issues/6' } };
  }
  const issues = range(5).map((number) => ({
    id: 900 + number,
    number,
    title: `Issue ${number}`,
    state: number === 2 ? 'closed' : 'open',
    user: number === 3 ? null : { login: 'ada' },
    updated_at: day(number),
    ...(number === 4 ? { pull_request: {} } : {}),
  }));
  const page = Number(query.get('page') ?? 1);
  const size = Number(query.get('per_page'));
  const next = new URLSearchParams(query);
  next.set('page', String(page + 1));
  const link = `<${origin}${path}?${next.toString()}>; rel="next"`;
  const hasMore = page * size < issues.length;
  return {
    body: issues.slice((page - 1) * size, page * size),
    ...(hasMore ? { headers: { link } } : {}),
  };
};

const hubspot: Play = ({ path, query }) => {
  if (path === '/account-info/v3/details') return { body: { portalId: 4711 } };
  if (path !== '/crm/v3/objects/contacts') return null;
  const contacts = range(3).map((at) => ({
    id: String(at),
    properties: {
      email: `c${at}@example.com`,
      firstname: `C${at}`,
      lastname: at === 2 ? null : 'X',
    },
    updatedAt: day(at),
  }));
  const from = Number(query.get('after') ?? 0);
  const results = slice(contacts, from, query.get('limit'));
  const after = from + results.length;
  const paging = after < contacts.length ? { paging: { next: { after: String(after) } } } : {};
  return { body: { results, ...paging } };
};

const zendesk: Play = ({ method, path, query, text, origin }) => {
  const ticket = (id: number, status = 'open') => ({
    id,
    subject: id === 2 ? null : `Ticket ${id}`,
    status,
    updated_at: day(id),
  });
  if (method === 'PUT' && path === '/api/v2/tickets/3.json') {
    const { status } = (JSON.parse(text) as { ticket: { status: string } }).ticket;
    return { body: { ticket: ticket(3, status) } };
  }
  if (path !== '/api/v2/tickets.json') return null;
  const size = query.get('page[size]') ?? '2';
  const from = Number(query.get('page[after]') ?? 0);
  const tickets = slice(
    range(3).map((id) => ticket(id)),
    from,
    size,
  );
  const next = new URLSearchParams({
    'page[size]': size,
    'page[after]': String(from + tickets.length),
  });
  const hasMore = from + tickets.length < 3;
  return {
    body: { tickets, links: { next: hasMore ? `${origin}${path}?${next.toString()}` : null } },
  };
};

const jira: Play = ({ path, query }) => {
  if (path !== '/rest/api/3/search') return null;
  const project = /project = "(\w+)"/.exec(query.get('jql') ?? '')?.[1] ?? '';
  const issues = range(project === 'OPS' ? 1 : 3).map((at) => ({
    id: `${project}${at}`,
    key: `${project}-${at}`,
    fields: { summary: `Do ${at}`, status: { name: 'To do' } },
  }));
  const startAt = Number(query.get('startAt'));
  return {
    body: {
      startAt,
      total: issues.length,
      issues: slice(issues, startAt, query.get('maxResults')),
    },
  };
};

const freshdesk: Play = ({ path, query }) => {
  if (path !== '/api/v2/companies') return null;
  const companies = range(3).map((id) => ({
    id,
    name: `Company ${id}`,
    domains: [`c${id}.example`],
  }));
  const size = Number(query.get('per_page'));
  return { body: slice(companies, (Number(query.get('page')) - 1) * size, String(size)) };
};

const stripe: Play = ({ method, path, query, text }) => {
  if (method === 'POST' && path === '/v1/customers') {
    const email = new URLSearchParams(text).get('email') ?? '';
    return { body: { id: `cus_${email.split('@', 1)[0] ?? ''}` } };
  }
  if (path !== '/v1/charges') return null;
  const charges = range(5).map((at) => ({
    id: `ch_${at}`,
    amount: 100 * at,
    currency: 'eur',
    paid: at !== 3,
  }));
  const from = charges.findIndex(({ id }) => id === query.get('starting_after')) + 1;
  const data = slice(charges, from, query.get('limit'));
  return { body: { data, has_more: from + data.length < charges.length } };
};

const notion: Play = ({ method, path, text }) => {
  if (method !== 'POST' || path !== '/v1/search') return null;
  const { start_cursor: cursor, page_size: size } = JSON.parse(text) as {
    start_cursor?: string;
    page_size: number;
  };
  const pages = range(3).map((at) => ({
    id: `page-${at}`,
    url: `https://notion.example/${at}`,
    last_edited_time: day(at),
  }));
  const from = Number(cursor ?? 0);
  const results = slice(pages, from, String(size));
  const end = from + results.length;
  return { body: { results, next_cursor: end < pages.length ? String(end) : null } };
};

const slack: Play = ({ path, text }) => {
  if (path !== '/chat.postMessage') return null;
  const { channel } = JSON.parse(text) as { channel: string };
  if (channel === '#nowhere') return { body: { ok: false, error: 'channel_not_found' } };
  return { body: { ok: true, ts: '1767254400.000100' } };
};

const googleCalendar: Play = ({ path, query }) => {
  if (path !== '/calendar/v3/calendars/primary/events') return null;
  const first = [
    { id: 'e1', status: 'confirmed', summary: 'Stand-up', start: { dateTime: day(1) } },
    { id: 'e2', status: 'tentative', start: { date: '2026-01-02' } },
  ];
  const second = [{ id: 'e0', status: 'cancelled' }];
  if (query.get('pageToken') === null) return { body: { items: first, nextPageToken: 'p2' } };
  return { body: { items: second, nextSyncToken: 's2' } };
};

/** Of the documentation: what it reads comes in pages, what it writes is taken. */
const crm: Play = ({ method, path, query }) => {
  if (method !== 'GET') return { status: method === 'POST' ? 201 : 200, body: { id: '1' } };
  if (path !== '/contacts') return null;
  const contacts = range(3).map((at) => ({ id: String(at), name: `Contact ${at}` }));
  const from = Number(query.get('after') ?? 0);
  const data = slice(contacts, from, query.get('limit'));
  const next = from + data.length;
  return { body: { data, ...(next < contacts.length ? { next: String(next) } : {}) } };
};

const plays: Readonly<Record<string, Play>> = {
  crm,
  github,
  hubspot,
  zendesk,
  jira,
  freshdesk,
  stripe,
  notion,
  slack,
  'google-calendar': googleCalendar,
};

export interface ExampleProviders extends AsyncDisposable {
  readonly apiKey: string;
  /** Addresses by the provider's name. */
  readonly origins: Readonly<Record<string, string>>;
  /** For a file of `SVC_PROVIDERS`. */
  readonly definitions: object;
}

/** Starts each provider at an address of its own, so that links of one lead to no other. */
export async function openExampleProviders(): Promise<ExampleProviders> {
  const servers = await Promise.all(
    Object.entries(plays).map(async ([name, play]) => [name, await openProvider(play)] as const),
  );
  const definitions = servers.map(([name, { origin }]) => [name, definitionOf(name, origin)]);
  return {
    apiKey,
    origins: Object.fromEntries(servers.map(([name, { origin }]) => [name, origin])),
    definitions: Object.fromEntries(definitions) as object,
    [Symbol.asyncDispose]: async () => {
      await Promise.all(servers.map(([, { close }]) => close()));
    },
  };
}

async function openProvider(play: Play) {
  const server = createServer((request, response) => {
    void (async () => {
      const url = new URL(request.url ?? '/', origin);
      const isKnown = request.headers.authorization === `Bearer ${apiKey}`;
      const told = isKnown ? await answer(play, request, url) : { status: 401, body: {} };
      const headers = { 'content-type': 'application/json', ...told.headers };
      response.writeHead(told.status ?? 200, headers).end(JSON.stringify(told.body));
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = async (): Promise<void> => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  return { origin, close };
}

async function answer(play: Play, request: IncomingMessage, url: URL): Promise<Told> {
  const text = Buffer.concat(await request.toArray()).toString();
  const { pathname: path, searchParams: query, origin } = url;
  const told = play({ method: request.method ?? '', path, query, text, origin });
  return told ?? { status: 404, body: { message: `nothing at ${path}` } };
}

function definitionOf(name: string, origin: string): object {
  return {
    display_name: name,
    categories: ['dev-tools'],
    docs: 'https://docs.example',
    auth_mode: 'API_KEY',
    credentials: {
      apiKey: { type: 'string', title: 'API key', description: 'The key.', secret: true },
    },
    proxy: { base_url: origin, headers: { authorization: 'Bearer ${apiKey}' } },
  };
}
