import { request as nodeRequest } from 'node:http';
import { expect } from 'vitest';
import { checkAnswer } from '../judges/answers.ts';
import type { Api } from './api.ts';

interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Default: the first node. */
  readonly url?: string;
}

interface SessionKey {
  readonly id: string;
  readonly kind: string;
  readonly name: string;
}

/** Where a person may act. */
interface SessionAccess {
  readonly environment: { readonly uid: string; readonly name: string } | null;
  readonly roles: readonly string[];
  readonly scopes: readonly string[];
}

/** A body that the console reads: a session, or a refusal. */
interface Body {
  readonly csrf_token: string;
  readonly keys: readonly SessionKey[];
  readonly person: { readonly id: string; readonly email: string } | null;
  readonly access: readonly SessionAccess[];
  readonly error?: { readonly code: string; readonly message: string; readonly fix: string };
}

export interface Came {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body | null;
}

/** The header of a page of the service itself. */
export const samePage = { 'sec-fetch-site': 'same-origin' };

/** A browser that is signed in. */
export interface Browser {
  readonly cookie: string;
  readonly csrf: string;
  readonly keys: readonly SessionKey[];
  readonly access: readonly SessionAccess[];
  /** What the console sends with each request. */
  as(keyId: string): Record<string, string>;
  /** What it sends for a person, in an environment by name or in `account`. */
  readonly at: (environment: string) => Record<string, string>;
}

export const cookieIn = ({ headers }: Came): string =>
  (headers.get('set-cookie') ?? '').split(';', 1)[0] ?? '';

export const outcome = ({ status, body }: Came): string => `${status} ${body?.error?.code ?? ''}`;
export const idOf = ({ keys }: Browser, at = 0): string => keys[at]?.id ?? '';

/** Requests as a browser sends them: `fetch` does not let a test set `Host`. */
async function send(
  api: Pick<Api, 'url'>,
  method: string,
  path: string,
  sent: Sent = {},
): Promise<Came> {
  const { promise, resolve, reject } = Promise.withResolvers<Came>();
  const body = sent.body === undefined ? undefined : JSON.stringify(sent.body);
  const json = body === undefined ? {} : { 'content-type': 'application/json' };
  const options = { method, headers: { ...json, ...sent.headers } };
  const asked = nodeRequest((sent.url ?? api.url) + path, options, (response) => {
    let text = '';
    response.setEncoding('utf8').on('data', (part: string) => (text += part));
    response.once('end', () => {
      const status = response.statusCode ?? 0;
      const headers = new Headers();
      for (const [name, values] of Object.entries(response.headersDistinct)) {
        for (const value of values ?? []) headers.append(name, value);
      }
      if (method !== 'OPTIONS') checkAnswer(method, path, { status, headers, text });
      resolve({ status, headers, body: text === '' ? null : (JSON.parse(text) as Body) });
    });
  });
  asked.once('error', reject);
  asked.end(body);
  return promise;
}

/** Signs a browser in. @param body a key or a code */
async function signIn(
  api: Pick<Api, 'url'>,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Browser> {
  const sent = { body, headers: { ...samePage, ...headers } };
  const came = await send(api, 'POST', '/console/session', sent);
  expect(outcome(came)).toBe('201 ');
  const { csrf_token: csrf = '', keys = [], access = [] } = came.body ?? {};
  const cookie = cookieIn(came);
  const common = { ...samePage, cookie, 'svc-csrf-token': csrf };
  return {
    cookie,
    csrf,
    keys,
    access,
    as: (keyId) => ({ ...common, 'svc-console-key': keyId }),
    at: (name) => ({
      ...common,
      'svc-console-environment':
        access.find(({ environment }) => environment?.name === name)?.environment?.uid ?? name,
    }),
  };
}

/** Requests and sign-ins at the service of a test, which starts later than this is called. */
export const browserAt = (apiOf: () => Pick<Api, 'url'>) => ({
  send: (method: string, path: string, sent?: Sent) => send(apiOf(), method, path, sent),
  signIn: (body: object, headers?: Readonly<Record<string, string>>) =>
    signIn(apiOf(), body, headers),
});

/** A key of the environment dev with one scope. */
export async function makeListingKey(api: Api, name: string) {
  const key = api.keys.account;
  const listed = await api.call('GET', '/environments', { key });
  const all = listed.at('data') as { id: number; name: string }[];
  const environmentId = all.find((one) => one.name === 'dev')?.id;
  const named = { environment_id: environmentId, display_name: name };
  const body = { ...named, scopes: ['environment:integrations:list'] };
  const made = await api.call('POST', '/environment/api-keys', { key, body });
  const id = made.at('data.id') as string;
  const which = { environment_id: environmentId, key_id: id };
  return {
    id,
    secret: made.at('data.secret') as string,
    delete: () => api.call('DELETE', '/environment/api-keys', { key, body: which }),
  };
}
