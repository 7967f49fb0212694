import { createClient, type Answer, type Client } from '#client/index.ts';

/** A key of the session, whose secret stays with the service, or where the person of the session has a role. */
export interface SessionKey {
  /** Of a person: UUID of the environment, or `account`. */
  readonly id: string;
  readonly name: string;
  readonly kind: 'account' | 'environment';
  /** The environment that it opens; null for an account key. */
  readonly environment: { readonly id: number | string; readonly name: string } | null;
  readonly scopes: readonly string[];
}

/** A signed-in browser: the cookie is out of reach of scripts, the token goes with each request. */
export interface Session {
  readonly csrf_token: string;
  readonly expires_at: string;
  readonly keys: readonly SessionKey[];
  /** Null in a session of keys. */
  readonly person: Person | null;
}

interface Person {
  readonly id: string;
  readonly email: string;
  readonly display_name: string;
}

/** The queries of the page have retries of their own. */
const clientWith = (headers: Readonly<Record<string, string>>): Client =>
  createClient({ url: '', headers: () => headers, retries: 0 });
const anonymous = clientWith({});

type SessionBody = Answer<'GET /console/session'>;

/** A person acts in places as with a key of each. */
function sessionOf({ access, keys, ...session }: SessionBody): Session {
  if (session.person === null) return { ...session, keys };
  const places = access.map(({ environment, roles, scopes }): SessionKey => ({
    id: environment?.uid ?? 'account',
    name: roles.join(', '),
    kind: environment === null ? 'account' : 'environment',
    environment,
    scopes,
  }));
  return { ...session, keys: places };
}

/** @throws ApiError 401 when nobody is signed in */
export const readSession = async (): Promise<Session> =>
  sessionOf(await anonymous.request('GET /console/session'));

/** Signs in, or adds a key to the session. @throws ApiError */
export async function signIn(
  body: { readonly key: string } | { readonly code: string },
  session: Session | null,
): Promise<Session> {
  const client = session === null ? anonymous : clientWith(csrfHeader(session));
  const next = sessionOf(await client.request('POST /console/session', { body }));
  // It has replaced the session of the browser, and with it the token that the other tabs send.
  otherTabs.postMessage(null);
  return next;
}

const otherTabs = new BroadcastChannel('svc-console-session');

/** Calls back when another tab of this browser has signed in or out. */
export const onOtherTab = (listener: () => void): void => {
  otherTabs.addEventListener('message', listener);
};

/** @throws ApiError */
export const signOut = async (session: Session): Promise<void> => {
  await clientWith(csrfHeader(session)).request('DELETE /console/session');
  otherTabs.postMessage(null);
};

/** Takes one key out of the session; the key itself stays. @throws ApiError */
export const removeKey = async (session: Session, keyId: string): Promise<void> => {
  const client = clientWith(csrfHeader(session));
  await client.request('DELETE /console/session/keys/{keyId}', { params: { keyId } });
};

const csrfHeader = ({ csrf_token: token }: Session) => ({ 'svc-csrf-token': token });

/** A client of the API that acts with one key of the session, or as its person in one place. */
export function clientOf(session: Session, key: SessionKey): Client {
  const name = session.person === null ? 'svc-console-key' : 'svc-console-environment';
  return clientWith({ [name]: key.id, ...csrfHeader(session) });
}

/** The name of the identity provider where people sign in; null without one. @throws ApiError */
export const readIdentityProvider = async (): Promise<string | null> => {
  const { data } = await anonymous.request('GET /console/sign-in');
  return data.identity_provider?.name ?? null;
};

/** Where a sign-in with the identity provider begins; it returns to the page. */
export const identitySignInUrl = (returnTo: string): string =>
  `/console/oidc/start?return_to=${encodeURIComponent(returnTo)}`;

export type ListedSession = Answer<'GET /console/sessions'>['data'][number];

/** The sessions of the person who is signed in. @throws ApiError */
export const listOwnSessions = async (): Promise<readonly ListedSession[]> =>
  (await anonymous.request('GET /console/sessions')).data;

/** Ends another session of the person. @throws ApiError */
export const endOwnSession = async (session: Session, id: string): Promise<void> => {
  await clientWith(csrfHeader(session)).request('DELETE /console/sessions/{id}', {
    params: { id },
  });
};

/** Whether one of the key's scopes covers the scope; `environment:connections:*` covers a group. */
export const covers = ({ scopes }: SessionKey, scope: string): boolean =>
  scopes.some((one) => one === scope || (one.endsWith('*') && scope.startsWith(one.slice(0, -1))));

/**
 * The one-time code of a link, `/console#code=…`, or of an invitation, `/console#invitation=…`. It is removed from the address bar and the history before it
 * is used.
 */
export function takeCode(): string | null {
  const parameters = new URLSearchParams(location.hash.slice(1));
  const code = parameters.get('code') ?? parameters.get('invitation');
  if (code !== null) history.replaceState(null, '', location.pathname + location.search);
  return code;
}
