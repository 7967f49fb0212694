import type { IncomingMessage } from 'node:http';
import { LRUCache } from 'lru-cache';
import type { Caller } from '#http/define-route.ts';
import type { RouteGuards } from '#http/pipeline.ts';
import { isSameOrigin, takesConsoleCookie } from '#http/same-origin.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { ApiKey } from '#modules/access/api-keys/api-key.ts';
import { accountKeyEntity, apiKeyEntity } from '#modules/access/api-keys/entity.ts';
import {
  authenticate,
  createUseNoter,
  openRevocations,
  type OpenedKey,
  type Revocations,
} from '#modules/access/api-keys/handlers.ts';
import { isKeyFormat } from '#modules/access/api-keys/key-format.ts';
import { holdsScope } from '#modules/access/api-keys/scopes.ts';
import { ipPrefix } from '#modules/access/audit/audited.ts';
import type { ConsoleSession } from '#modules/access/console-sessions/console-session.ts';
import { tokenOf } from '#modules/access/console-sessions/cookie.ts';
import {
  checkCsrf,
  createSessionUseNoter,
  findSession,
  findSessionKey,
  findSessionPerson,
} from '#modules/access/console-sessions/handlers.ts';
import { environmentEntity, environmentRef } from '#modules/access/environments/entity.ts';
import { personCaller } from '#modules/access/people/caller.ts';
import { openPeopleChanges, type PeopleChanges } from '#modules/access/people/handlers.ts';
import { isConnectToken, sessionOf } from '#modules/connections/connect-sessions/handlers.ts';
import type { Services } from './services.ts';

/** Callers cached by header: a lookup then needs no hash and no query. */
const cachedMax = 10_000;

export interface Authenticator extends AsyncDisposable {
  /**
   * The caller that sent this `Authorization` header, if cached; null: call `callerOf`.
   * @param address of the client
   */
  knownCaller(header: string | undefined, address: string): Caller | null;
  /**
   * The caller that sent this `Authorization` header.
   * @throws GatewayError `missing_auth_header`, `malformed_auth_header`, `invalid_secret_key_format`,
   *   `unknown_account`, `expired_api_key`, and as `sessionCallerOf`
   */
  callerOf(header: string | undefined, address: string): Promise<Caller>;
  /**
   * The caller that holds this token of a connect session.
   * @throws GatewayError `invalid_connect_session_token_format`, `unknown_connect_session_token`
   */
  sessionCallerOf(token: string): Promise<Caller>;
  /**
   * The caller of a request of the console, by its cookie; null: it is not one.
   * @throws GatewayError as `ConsoleCallers.find`
   */
  consoleCallerOf(
    request: IncomingMessage,
    route: RouteGuards,
    address: string,
  ): Promise<Caller> | null;
}

interface CachedCaller extends OpenedKey {
  readonly caller: Caller;
}

/**
 * Uses this node's view, and notifications of deleted keys from other nodes; any change of a key or an environment
 * empties the cache.
 */
export async function openAuthenticator(services: Services): Promise<Authenticator> {
  await using stack = new AsyncDisposableStack();
  const revocations = stack.use(await openRevocations(services.coordination));
  const people = stack.use(await openPeopleChanges(services.coordination, services.control));
  const cached = new LRUCache<string, CachedCaller>({ max: cachedMax });
  /** A caller that was looked up before a change must not be cached after it. */
  let changes = 0;
  const stop = services.control.view.onChange(
    [apiKeyEntity, accountKeyEntity, environmentEntity],
    () => {
      changes += 1;
      cached.clear();
    },
  );
  const uses = createUseNoter(services);
  const note = async (used: Pick<OpenedKey, 'key' | 'hash'>, address: string) => {
    try {
      await uses.noteUsed(used, ipPrefix(address));
    } catch (error) {
      const keyId = used.key.id;
      services.logger.debug({ err: error, keyId }, 'the use of a key was not recorded');
    }
  };
  const isRevoked = ({ key, hash }: OpenedKey): boolean =>
    revocations.has(key.id) || revocations.has(hash);
  const consoleCallers = createConsoleCallers(services, { revocations, people });
  const knownCaller = (header: string | undefined, address: string): Caller | null => {
    const existing = header === undefined ? undefined : cached.get(header);
    if (existing === undefined || isRevoked(existing)) return null;
    // The clock passes the end of a key while its caller is cached.
    if (existing.validUntil !== null && services.clock.now() >= existing.validUntil) return null;
    if (uses.isDue(existing)) void note(existing, address);
    return existing.caller;
  };
  const opened = stack.move();
  return {
    knownCaller,
    async callerOf(header, address) {
      const existing = knownCaller(header, address);
      if (existing !== null) return existing;
      const secret = secretOf(header);
      // Not cached: it expires within the hour and is used rarely.
      if (isConnectToken(secret)) return sessionCaller(secret, services);
      const changesBefore = changes;
      const found = await lookUp(secret, services);
      if (isRevoked(found)) throw new GatewayError('unknown_account');
      if (header !== undefined && changes === changesBefore) cached.set(header, found);
      void note(found, address);
      return found.caller;
    },
    sessionCallerOf: (token) => sessionCaller(token, services),
    consoleCallerOf: (request, route, address) =>
      consoleCallers
        .find(request, route)
        ?.then((found) => callerOfConsole(found, (key) => void note(key, address))) ?? null,
    async [Symbol.asyncDispose]() {
      stop();
      await opened.disposeAsync();
    },
  };
}

function secretOf(header: string | undefined): string {
  if (header === undefined) throw new GatewayError('missing_auth_header');
  const secret = /^Bearer ([\x21-\x7e]+)$/i.exec(header)?.[1];
  if (secret === undefined) throw new GatewayError('malformed_auth_header');
  if (!isConnectToken(secret) && !isKeyFormat(secret))
    throw new GatewayError('invalid_secret_key_format');
  return secret;
}

/** A token carries one scope (docs/reference/http.md#credentials). */
const sessionScopes = ['environment:integrations:list'];

async function sessionCaller(token: string, services: Services): Promise<Caller> {
  const session = await sessionOf(services, token);
  return {
    credential: 'connect',
    environmentUid: session.environmentUid,
    keyId: session.id,
    session,
    scopes: sessionScopes,
    actor: `user:session-${session.id}`,
    has: (scope) => sessionScopes.includes(scope),
  };
}

async function lookUp(secret: string, services: Services): Promise<CachedCaller> {
  const opened = await authenticate(services, secret);
  if (opened === null || isOrphan(opened.key, services)) throw new GatewayError('unknown_account');
  return { ...opened, caller: { ...callerOf(opened.key), secretHash: opened.hash } };
}

const callerOf = (key: ApiKey): Caller => ({
  credential: key.environmentUid === null ? 'account' : 'environment',
  environmentUid: key.environmentUid ?? '',
  keyId: key.id,
  scopes: key.scopes,
  actor: `key:${key.id}`,
  has: (scope) => holdsScope(key.scopes, scope),
});

/** Whether the key outlives its environment, which is being removed. */
function isOrphan({ environmentUid }: ApiKey, { control }: Services): boolean {
  if (environmentUid === null) return false;
  return control.view.find(environmentRef(environmentUid))?.isDeleting ?? false;
}

/** The key that acts for a request of the console. */
interface ConsoleKey {
  readonly key: ApiKey;
  readonly sessionId: string;
}

/** The person who acts for a request of the console, in one environment or the account. */
interface ConsolePerson {
  readonly caller: Caller;
}

function callerOfConsole(
  found: ConsoleKey | ConsolePerson,
  noteUse: (opened: Pick<OpenedKey, 'key' | 'hash'>) => void,
): Caller {
  if ('caller' in found) return found.caller;
  const { key, sessionId } = found;
  noteUse({ key, hash: key.hash });
  return { ...callerOf(key), consoleSessionId: sessionId };
}

interface ConsoleCallers {
  /**
   * The key that the console names in a request with its cookie, or the person who is signed in. The cookie counts only
   * without an `Authorization` header, from a page of this origin, on routes that take it; null: the request is not such
   * a one.
   * @throws GatewayError `unknown_console_session`, `invalid_csrf_token`, `forbidden`
   */
  find(request: IncomingMessage, route: RouteGuards): Promise<ConsoleKey | ConsolePerson> | null;
}

/** The header that names the key of the session by its id. */
const keyHeader = 'svc-console-key';
/** The header that names where a person acts: the UUID of an environment, or `account`. */
const environmentHeader = 'svc-console-environment';
const csrfHeader = 'svc-csrf-token';

interface NodeNotifications {
  readonly revocations: Revocations;
  readonly people: PeopleChanges;
}

function createConsoleCallers(
  services: Services,
  { revocations, people }: NodeNotifications,
): ConsoleCallers {
  const noteUse = createSessionUseNoter(services);
  const ofKey = (session: ConsoleSession, keyId: string | undefined): ConsoleKey => {
    const name = session.keys.find(({ id }) => id === keyId);
    const found = name === undefined ? null : findSessionKey(services, name);
    if (found === null || revocations.has(found.key.id)) {
      throw new GatewayError('unknown_console_session');
    }
    return { key: found.key, sessionId: session.id };
  };
  const ofPerson = async (
    session: ConsoleSession,
    personId: string,
    where: string | undefined,
  ): Promise<ConsolePerson> => {
    await people.applied(personId);
    const person = findSessionPerson(services, session);
    if (person === null) throw new GatewayError('unknown_console_session');
    return { caller: personCaller(services, person, { where, sessionId: session.id }) };
  };
  const find = async (
    token: string,
    { headers }: IncomingMessage,
  ): Promise<ConsoleKey | ConsolePerson> => {
    checkCsrf(services.vault, token, headers[csrfHeader]?.toString());
    const session = await findSession(services, token);
    if (session === null || revocations.has(session.id)) {
      throw new GatewayError('unknown_console_session');
    }
    const { personId } = session;
    const found =
      personId === undefined
        ? ofKey(session, headers[keyHeader]?.toString())
        : await ofPerson(session, personId, headers[environmentHeader]?.toString());
    void noteUse(session).catch((error: unknown) => {
      services.logger.debug({ err: error }, 'the use of a console session was not noted');
    });
    return found;
  };
  return {
    find(request, route) {
      const { headers, method = 'GET' } = request;
      const names = headers[keyHeader] ?? headers[environmentHeader];
      if (headers.authorization !== undefined || names === undefined) return null;
      if (!takesConsoleCookie(route)) return null;
      const browser = { ...headers, 'sec-fetch-site': headers['sec-fetch-site']?.toString() };
      const isChange = method !== 'GET' && method !== 'HEAD';
      const { publicUrl } = services.settings;
      if (!isSameOrigin(browser, { publicUrl, isChange })) return null;
      const token = tokenOf(services.vault, browser);
      return token === null ? null : find(token, request);
    },
  };
}
