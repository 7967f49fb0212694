import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PlayedProvider } from '#fake-providers/play.ts';
import type { PlayOptions } from '#fake-providers/rules.ts';
import { openFakeAuth, visit, type FakeAuth } from '#fake-providers/server.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import type { Clock } from '#kernel/time.ts';
import type { AuthMode, Provider } from '#modules/connections/providers/definition.ts';
import { loadCatalogue } from '#modules/connections/providers/load-catalogue.ts';
import { checkedFetch } from '../judges/answers.ts';
import { startApi, type Api, type ApiAnswer } from './api.ts';

/** What the test plays: a definition under a name of its own, which is also the key of its integration. */
export interface Cast {
  readonly provider: Provider;
  readonly options?: PlayOptions;
}

/** The API with an integration of each provider that a fake one plays. */
export interface AuthorizingApi extends Api {
  readonly fake: FakeAuth;
  played(key: string): PlayedProvider;
  /** Of a new connect session. */
  token(body?: object, path?: string): Promise<string>;
  /** Posts a form with the token of a session. */
  submit(path: string, key: string, body: JsonObject, token?: string): Promise<ApiAnswer>;
  /** A browser goes to the provider and comes back. */
  redirect(
    key: string,
    query?: Readonly<Record<string, string>>,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Redirect>;
  connection(id: string, key: string): Promise<ApiAnswer>;
}

export interface Redirect {
  /** Of the answer to the start: 302, or why it failed. */
  readonly status: number;
  readonly location: string;
  readonly cookie: string;
  readonly body: string;
  /** The person consents: the query that the provider sends them back with. */
  consent(): Promise<Record<string, string>>;
  /** The browser follows the redirect back. */
  back(
    query: Readonly<Record<string, string>>,
    options?: { readonly path?: string; readonly cookie?: string; readonly url?: string },
  ): Promise<Landing>;
}

export interface Landing {
  readonly status: number;
  readonly html: string;
  readonly headers: Headers;
}

/** The first provider of the catalog that has the mode. */
export function providerOf(mode: AuthMode, more: Partial<Provider> = {}): Provider {
  const found = loadCatalogue({ overlayPath: null })
    .all()
    .find((provider) => provider.auth_mode === mode && provider.installation === undefined);
  if (found === undefined) throw new Error(`no provider of ${mode} in the catalogue`);
  return { ...found, ...more };
}

export async function startAuthorizing(
  casts: readonly Cast[],
  options: { readonly clock?: Clock; readonly egressAllow?: readonly string[] } = {},
): Promise<AuthorizingApi> {
  await using stack = new AsyncDisposableStack();
  const fake = stack.use(await openFakeAuth());
  const plays = new Map(
    casts.map(({ provider, options: rules }) => [provider.name, fake.play(provider, rules)]),
  );
  const folder = mkdtempSync(join(tmpdir(), 'svc-authorizing-'));
  stack.defer(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'played.json'), JSON.stringify(fake.definitions()));
  const api = stack.use(
    await startApi({
      ...options,
      overlayPath: folder,
      egressAllow: [fake.hostPort, ...(options.egressAllow ?? [])],
    }),
  );
  for (const [name, played] of plays) {
    const credentials = played.integration === null ? {} : { credentials: played.integration };
    const body = { provider: name, unique_key: name, ...credentials };
    const made = await api.call('POST', '/integrations', { body });
    if (made.status !== 200) throw new Error(`${name}: ${JSON.stringify(made.body)}`);
  }
  const played = (key: string): PlayedProvider => {
    const found = plays.get(key);
    if (found === undefined) throw new Error(`${key} is not played`);
    return found;
  };
  const token: AuthorizingApi['token'] = async (
    body = { end_user: { id: 'u1' } },
    path = '/connect/sessions',
  ) => {
    const made = await api.call('POST', path, { body });
    if (made.status !== 201) throw new Error(JSON.stringify(made.body));
    return made.at('data.token') as string;
  };
  const queryOf = async (
    key: string,
    given: Readonly<Record<string, string>> = {},
  ): Promise<URLSearchParams> => {
    const config = Object.entries(played(key).connectionConfig);
    const params = config.map(([name, value]) => [`params[${name}]`, value] as const);
    const connect_session_token = given['connect_session_token'] ?? (await token());
    const typed: Record<string, string> = Object.fromEntries(params);
    return new URLSearchParams({ ...typed, ...given, connect_session_token });
  };
  const opened = stack.move();
  return {
    ...api,
    fake,
    played,
    token,
    async submit(path, key, body, given) {
      const more = given === undefined ? {} : { connect_session_token: given };
      const query = await queryOf(key, more);
      const at = `${path}/${encodeURIComponent(key)}?${query.toString()}`;
      return api.call('POST', at, { key: 'none', body });
    },
    async redirect(key, given, headers) {
      const query = await queryOf(key, given);
      const path = `/oauth/connect/${encodeURIComponent(key)}?${query.toString()}`;
      return startRedirect(api.url, path, headers);
    },
    connection: (id, key) =>
      api.call(
        'GET',
        `/connections/${encodeURIComponent(id)}?provider_config_key=${encodeURIComponent(key)}`,
      ),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

async function startRedirect(
  url: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Redirect> {
  const answer = await checkedFetch(url + path, { redirect: 'manual', headers });
  const cookie = (answer.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? '';
  const location = answer.headers.get('location') ?? '';
  return {
    status: answer.status,
    location,
    cookie,
    body: await answer.text(),
    consent: () => visit(location),
    async back(
      query,
      { path: to = '/oauth/callback', cookie: shown = cookie, url: at = url } = {},
    ) {
      const text = new URLSearchParams(query).toString();
      const landed = await checkedFetch(`${at}${to}?${text}`, {
        redirect: 'manual',
        headers: { cookie: shown },
      });
      return { status: landed.status, html: await landed.text(), headers: landed.headers };
    },
  };
}

/** A page's socket: hears how its authorization ended. */
export interface PageSocket extends AsyncDisposable {
  readonly id: string;
  next(): Promise<Record<string, unknown>>;
}

export async function openPageSocket(url: string): Promise<PageSocket> {
  const socket = new WebSocket(url.replace('http', 'ws') + '/');
  const heard: Record<string, unknown>[] = [];
  const waiting: ((message: Record<string, unknown>) => void)[] = [];
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data)) as Record<string, unknown>;
    const next = waiting.shift();
    if (next === undefined) heard.push(message);
    else next(message);
  });
  const next = (): Promise<Record<string, unknown>> => {
    const known = heard.shift();
    if (known !== undefined) return Promise.resolve(known);
    return new Promise((resolve) => waiting.push(resolve));
  };
  const { message_type: type, ws_client_id: id } = await next();
  if (type !== 'connection_ack') throw new Error(`the socket said ${String(type)} first`);
  return {
    id: String(id),
    next,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => socket.addEventListener('close', resolve));
      socket.close();
      await closed;
    },
  };
}
