import { createClient, type Client } from '#client/index.ts';

/** A key of the session; its secret stays with the service. */
export interface SessionKey {
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
}

/** The queries of the page have retries of their own. */
const clientWith = (headers: Readonly<Record<string, string>>): Client =>
  createClient({ url: '', headers: () => headers, retries: 0 });
const anonymous = clientWith({});

/** The service guarantees the shape. */
const asSession = (body: unknown): Session => body as Session;

/** @throws ApiError 401 when nobody is signed in */
export const readSession = async (): Promise<Session> =>
  asSession(await anonymous.request('GET /console/session'));

/** Signs in, or adds a key to the session. @throws ApiError */
export async function signIn(
  body: { readonly key: string } | { readonly code: string },
  session: Session | null,
): Promise<Session> {
  const client = session === null ? anonymous : clientWith(csrfHeader(session));
  const next = asSession(await client.request('POST /console/session', { body }));
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

/** A client of the API that acts with one key of the session. */
export function clientOf(session: Session, key: SessionKey): Client {
  return clientWith({ 'svc-console-key': key.id, ...csrfHeader(session) });
}

/** Whether one of the key's scopes covers the scope; `environment:connections:*` covers a group. */
export const covers = ({ scopes }: SessionKey, scope: string): boolean =>
  scopes.some((one) => one === scope || (one.endsWith('*') && scope.startsWith(one.slice(0, -1))));

/**
 * The one-time code of a start link, `/console#code=…`. It is removed from the address bar and the history before it
 * is used.
 */
export function takeCode(): string | null {
  const code = new URLSearchParams(location.hash.slice(1)).get('code');
  if (code !== null) history.replaceState(null, '', location.pathname + location.search);
  return code;
}
