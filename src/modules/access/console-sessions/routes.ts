import { z } from 'zod';
import type { AnyRoute } from '#http/define-route.ts';
import { repeatableOptions } from '#http/options.ts';
import { takeQuota } from '#http/rate-limit.ts';
import { representation } from '#http/representation.ts';
import { data, json, nothing, succeeded, timestamp } from '#http/responses.ts';
import { browserHeaders, isSameOrigin, type BrowserHeaders } from '#http/same-origin.ts';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import { isoMillis, isoMillisOrNull } from '#kernel/time.ts';
import { authenticate } from '../api-keys/handlers.ts';
import { isKeyFormat } from '../api-keys/key-format.ts';
import { ipPrefix } from '../audit/audited.ts';
import type { KeyName } from '../console-codes/console-code.ts';
import { useCode } from '../console-codes/handlers.ts';
import { signInPerson } from '../people/handlers.ts';
import type { Person } from '../people/person.ts';
import { accessesOf, type PersonAccess } from '../people/queries.ts';
import { roleNames } from '../people/roles.ts';
import { defineRoute, type AccessServices } from '../services.ts';
import { browserSummary } from './browser.ts';
import { type ConsoleSession, endOf } from './console-session.ts';
import { cookieFor, tokenOf } from './cookie.ts';
import {
  checkCsrf,
  createSession,
  csrfTokenOf,
  endSession,
  findSession,
  findSessionKey,
  findSessionPerson,
  keysOf,
  listSessions,
  removeKey,
  sessionsOfPerson,
  type SessionKey,
} from './handlers.ts';
import { auditSession, secondsOf, startPersonSession, type SignInRequest } from './start.ts';

const key = representation<SessionKey>()({
  id: [z.uuid().describe('Id of the key.'), ({ key }) => key.id],
  name: [
    z.string().meta({ description: 'Name of the key.', examples: ['Backend'] }),
    ({ key }) => key.displayName,
  ],
  kind: [
    z.enum(['account', 'environment']).describe('Kind of the key.'),
    ({ environment }) => (environment === null ? 'account' : 'environment'),
  ],
  environment: [
    z
      .strictObject({
        id: z.int().describe('Number of the environment.'),
        name: z.string().describe('Name of the environment.'),
      })
      .nullable()
      .describe('Environment of the key; null for a key of the account.'),
    ({ environment }) => environment && { id: environment.id, name: environment.name },
  ],
  scopes: [
    z.array(z.string().meta({ examples: ['environment:records:read'] })),
    ({ key }) => key.scopes,
  ],
  expires_at: [
    timestamp.nullable().describe('When the key expires; null: never.'),
    ({ key }) => isoMillisOrNull(key.expiresAt ?? null),
  ],
});

const personShape = z
  .strictObject({
    id: z.uuid().describe('Id of the person.'),
    email: z.string().describe('E-mail address of the person.'),
    display_name: z.string().describe('Name of the person.'),
  })
  .nullable()
  .describe('Who is signed in; null in a session of keys.');

const access = representation<PersonAccess>()({
  environment: [
    z
      .strictObject({
        uid: z.uuid().describe('UUID of the environment, for `Svc-Console-Environment`.'),
        id: z.int().describe('Number of the environment.'),
        name: z.string().describe('Name of the environment.'),
      })
      .nullable()
      .describe('The environment; null: the account.'),
    ({ environment }) =>
      environment && { uid: environment.uid, id: environment.id, name: environment.name },
  ],
  roles: z.array(z.enum(roleNames)).describe('Roles there, the greatest first.'),
  scopes: z.array(z.string().meta({ examples: ['environment:records:read'] })),
});

interface ShownSession {
  readonly session: ConsoleSession;
  readonly keys: readonly SessionKey[];
  readonly person: Person | null;
  readonly accesses: readonly PersonAccess[];
  readonly csrfToken: string;
}

/** A session for the console: its keys by id, without their secrets, or its person. */
const shownSession = representation<ShownSession>()({
  csrf_token: [
    z.string().describe('Value of the header `Svc-Csrf-Token` in further requests.'),
    ({ csrfToken }) => csrfToken,
  ],
  expires_at: [timestamp, ({ session }) => isoMillis(endOf(session))],
  keys: [
    z.array(key.schema).describe('The keys that the session holds.'),
    ({ keys }) => keys.map(key.of),
  ],
  person: [
    personShape,
    ({ person }) =>
      person && { id: person.id, email: person.email, display_name: person.displayName },
  ],
  access: [
    z.array(access.schema).describe('Where the person has a role; empty in a session of keys.'),
    ({ accesses }) => accesses.map(access.of),
  ],
});

const presentSession = shownSession.of;
const sessionShape = shownSession.schema.meta({ id: 'ConsoleSession' });

const noStore = { 'cache-control': 'no-store' };
const signInHeaders = browserHeaders.extend({
  'user-agent': z.string().optional().describe('The browser, which the list of sessions names.'),
});
const changeHeaders = browserHeaders.extend({ 'svc-csrf-token': z.string().optional() });

const signIn = defineRoute({
  method: 'POST',
  path: '/console/session',
  credential: 'none',
  scopes: [],
  summary: 'Sign a browser in to the console.',
  description:
    'With a key, or with the one-time code of a link. A browser that is signed in gets a new session with the keys of the one before, which ends.',
  headers: signInHeaders,
  body: z
    .strictObject({
      key: z.string().max(255).optional().describe('Secret of an API key; either this or `code`.'),
      code: z
        .string()
        .max(255)
        .optional()
        .describe(
          'One-time code of `POST /console/codes`, or of the link of a person; either this or `key`.',
        ),
    })
    .superRefine(({ key, code }, context) => {
      if ((key === undefined) !== (code === undefined)) return;
      const message = 'Send a key or a code.';
      context.addIssue({ code: 'custom', message, path: ['key'] });
    })
    .meta({ examples: [{ key: 'svc_env_…' }] }),
  answers: { 201: json('The session; the cookie holds its token.', sessionShape) },
  errors: [
    'foreign_origin',
    'invalid_secret_key_format',
    'unknown_account',
    'expired_api_key',
    'unknown_console_code',
    'person_deactivated',
    'not_found',
    'resource_capped',
  ],
  async handle({ body, headers, services, address }) {
    requireSameOrigin(services, headers, true);
    await countSignIn(services, address);
    const { key, code } = body;
    const { keys: named, personId } =
      code === undefined
        ? { keys: await keyOf(services, key ?? ''), personId: undefined }
        : await useCode(services, code);
    const existing = await current(services, headers);
    const browser = browserSummary(headers['user-agent'], address);
    const request = { browser, address, replacesId: existing?.session.id ?? null };
    const { session, token } =
      personId === undefined
        ? await signInKeys(services, named, request)
        : await startPersonSession(services, await signInPerson(services, personId), request);
    const seconds = secondsOf(services, session);
    return {
      status: 201,
      body: shown(services, { session, token }),
      headers: { ...noStore, 'set-cookie': cookieFor(services.vault, headers, token, seconds) },
    };
  },
});

const show = defineRoute({
  method: 'GET',
  path: '/console/session',
  credential: 'none',
  scopes: [],
  summary: 'Get the session of the console.',
  headers: browserHeaders,
  answers: { 200: json('The session.', sessionShape) },
  errors: ['foreign_origin', 'unknown_console_session'],
  async handle({ headers, services }) {
    requireSameOrigin(services, headers, false);
    const body = shown(services, await requireCurrent(services, headers));
    return { status: 200, body, headers: noStore };
  },
});

const signOut = defineRoute({
  method: 'DELETE',
  path: '/console/session',
  credential: 'none',
  scopes: [],
  summary: 'Sign the browser out of the console.',
  headers: changeHeaders,
  answers: { 204: nothing('The session has ended.') },
  errors: ['foreign_origin', 'invalid_csrf_token'],
  async handle({ headers, services, address }) {
    requireSameOrigin(services, headers, true);
    const existing = await current(services, headers);
    if (existing !== null) {
      const { session, token } = existing;
      checkCsrf(services.vault, token, headers['svc-csrf-token']);
      await endSession(services, session, { actor: actorOf(session) });
      const action = 'console_session.delete';
      if (session.personId === undefined) {
        await auditKeys(services, keysOf(services, session), { action, session, address });
      } else await auditSession(services, { action, session, address });
    }
    const cleared = cookieFor(services.vault, headers, '', 0);
    return { status: 204, headers: { ...noStore, 'set-cookie': cleared } };
  },
});

const removeOne = defineRoute({
  method: 'DELETE',
  path: '/console/session/keys/{keyId}',
  credential: 'none',
  scopes: [],
  summary: 'Remove a key from the session of the console.',
  description: 'Without its last key the session ends.',
  params: z.strictObject({ keyId: z.uuid().describe('Id of the key to remove from the session.') }),
  headers: changeHeaders,
  answers: { 204: nothing('The session does not hold the key any more.') },
  errors: ['foreign_origin', 'invalid_csrf_token', 'unknown_console_session', 'not_found'],
  async handle({ headers, params, services, address }) {
    requireSameOrigin(services, headers, true);
    const { session, token } = await requireCurrent(services, headers);
    checkCsrf(services.vault, token, headers['svc-csrf-token']);
    await removeKey(services, session, params.keyId, { actor: `key:${params.keyId}` });
    const keys = keysOf(services, session).filter(({ key }) => key.id === params.keyId);
    await auditKeys(services, keys, { action: 'console_session.remove_key', session, address });
    return { status: 204, headers: noStore };
  },
});

/** @throws GatewayError `unknown_console_code`: none of the keys exists */
async function signInKeys(
  services: AccessServices,
  named: readonly KeyName[],
  { browser, address, replacesId }: SignInRequest,
): Promise<CurrentSession> {
  const addedAt = services.clock.now();
  const added = keysOf(services, { keys: named.map((name) => ({ ...name, addedAt })) });
  const keys = added.map(({ key: { environmentUid, id } }) => ({ environmentUid, id }));
  const [first] = added;
  if (first === undefined) throw new GatewayError('unknown_console_code');
  const options = { actor: `key:${first.key.id}` };
  const made = await createSession(services, { keys, browser, replacesId }, options);
  const { session } = made;
  await auditKeys(services, added, { action: 'console_session.create', session, address });
  return made;
}

/** A session in a list. */
const listed = representation<ListedSession>()({
  id: [z.uuid().describe('Id of the session.'), ({ session }) => session.id],
  person: [
    personShape,
    ({ person }) =>
      person && { id: person.id, email: person.email, display_name: person.displayName },
  ],
  keys: [
    z.array(z.string()).describe('Names of the keys of a session of keys.'),
    ({ keys }) =>
      keys.map(({ key, environment }) =>
        environment === null ? key.displayName : `${key.displayName} (${environment.name})`,
      ),
  ],
  browser: [
    z
      .string()
      .nullable()
      .meta({
        description: 'Browser and system of the sign-in; null where unknown.',
        examples: ['Firefox on Linux'],
      }),
    ({ session }) => session.browser?.name ?? null,
  ],
  ip_prefix: [
    z.string().nullable().describe('Network of the sign-in: /24 of IPv4, /48 of IPv6.'),
    ({ session }) => session.browser?.ipPrefix ?? null,
  ],
  created_at: [timestamp, ({ session }) => isoMillis(session.createdAt)],
  last_used_at: [timestamp, ({ session }) => isoMillis(session.usedAt)],
  expires_at: [timestamp, ({ session }) => isoMillis(endOf(session))],
  is_current: z.boolean().describe('Whether it is the session of this browser.'),
});

interface ListedSession {
  readonly session: ConsoleSession;
  readonly person: Person | null;
  readonly keys: readonly SessionKey[];
  readonly isCurrent: boolean;
}

const sessionsShape = data(z.array(listed.schema.meta({ id: 'ListedConsoleSession' })));

/** Those that still let in: of a person who is active, or of a key that exists. */
function presentSessions(
  services: AccessServices,
  sessions: readonly ConsoleSession[],
  currentId: string | undefined,
) {
  return sessions.flatMap((session) => {
    const person = findSessionPerson(services, session);
    const keys = keysOf(services, session);
    if (person === null && keys.length === 0) return [];
    return [listed.of({ session, person, keys, isCurrent: session.id === currentId })];
  });
}

const sessionPath = z.strictObject({ id: z.uuid().describe('Id of the session.') });

const listOwn = defineRoute({
  method: 'GET',
  path: '/console/sessions',
  credential: 'none',
  scopes: [],
  summary: 'List the sessions of the person who is signed in, newest first.',
  description: 'A session of keys lists itself alone.',
  headers: browserHeaders,
  answers: { 200: json('The sessions.', sessionsShape) },
  errors: ['foreign_origin', 'unknown_console_session'],
  async handle({ headers, services }) {
    requireSameOrigin(services, headers, false);
    const { session } = await requireCurrent(services, headers);
    const sessions = ownSessions(services, session);
    return {
      status: 200,
      body: { data: presentSessions(services, sessions, session.id) },
      headers: noStore,
    };
  },
});

const ownSessions = (services: AccessServices, session: ConsoleSession) =>
  session.personId === undefined ? [session] : sessionsOfPerson(services, session.personId);

const endOwn = defineRoute({
  method: 'DELETE',
  path: '/console/sessions/{id}',
  credential: 'none',
  scopes: [],
  summary: 'End a session of the person who is signed in.',
  params: sessionPath,
  headers: changeHeaders,
  answers: { 204: nothing('The session has ended.') },
  errors: ['foreign_origin', 'invalid_csrf_token', 'unknown_console_session', 'not_found'],
  async handle({ headers, params, services, address }) {
    requireSameOrigin(services, headers, true);
    const { session, token } = await requireCurrent(services, headers);
    checkCsrf(services.vault, token, headers['svc-csrf-token']);
    const ended = ownSessions(services, session).find(({ id }) => id === params.id);
    if (ended === undefined) throw noSession(params.id);
    await endSession(services, ended, { actor: actorOf(session) });
    const entry = { action: 'console_session.end', session: ended, address };
    await auditSession(services, entry);
    return { status: 204, headers: noStore };
  },
});

const noSession = (id: string): GatewayError =>
  new GatewayError('not_found', { message: `There is no session with the id ${id}.` });

const listAll = defineRoute({
  method: 'GET',
  path: '/account/sessions',
  credential: 'account',
  scopes: ['account:people:read'],
  summary: 'List the sessions of the console, newest first.',
  query: z.strictObject({
    person_id: z.uuid().optional().describe('Only sessions of this person.'),
  }),
  answers: { 200: json('The sessions.', sessionsShape) },
  errors: [],
  async handle({ query, caller, services }) {
    await services.control.view.caughtUp();
    const { person_id: personId } = query;
    const sessions =
      personId === undefined ? listSessions(services) : sessionsOfPerson(services, personId);
    const shownSessions = presentSessions(services, sessions, caller.consoleSessionId);
    return { status: 200, body: { data: shownSessions }, headers: noStore };
  },
});

const endOne = defineRoute({
  method: 'DELETE',
  path: '/account/sessions/{id}',
  credential: 'account',
  scopes: ['account:people:write'],
  summary: 'End a session of the console.',
  description: 'Its browser is signed out at once, on every node.',
  params: sessionPath,
  answers: succeeded,
  errors: ['not_found'],
  async handle(input) {
    const { params, services } = input;
    await services.control.view.caughtUp();
    const ended = listSessions(services).find(({ id }) => id === params.id);
    if (ended === undefined) throw noSession(params.id);
    await endSession(services, ended, repeatableOptions(input));
    return { status: 200, body: { success: true } };
  },
});

/** @throws GatewayError `foreign_origin` */
function requireSameOrigin(
  { settings: { publicUrl } }: AccessServices,
  headers: BrowserHeaders,
  isChange: boolean,
): void {
  if (!isSameOrigin(headers, { publicUrl, isChange })) throw new GatewayError('foreign_origin');
}

/** Attempts are counted by address, successful ones too. @throws GatewayError `too_many_request` */
async function countSignIn(services: AccessServices, address: string): Promise<void> {
  const limit = limits.consoleSignInsPerMinute;
  const { refusal } = await takeQuota(services, `console-sign-in:${address}`, { cost: 1, limit });
  if (refusal !== null) throw refusal;
}

/** @throws GatewayError `invalid_secret_key_format`, `unknown_account`, `expired_api_key` */
async function keyOf(services: AccessServices, secret: string): Promise<readonly KeyName[]> {
  if (!isKeyFormat(secret)) throw new GatewayError('invalid_secret_key_format');
  const { key } = (await authenticate(services, secret)) ?? { key: null };
  const addedAt = services.clock.now();
  if (key === null || findSessionKey(services, { ...key, addedAt }) === null) {
    throw new GatewayError('unknown_account');
  }
  return [{ environmentUid: key.environmentUid, id: key.id }];
}

interface CurrentSession {
  readonly session: ConsoleSession;
  readonly token: string;
}

/** The session of the cookie, while one of its keys exists, or its person is active. */
async function current(
  services: AccessServices,
  headers: BrowserHeaders,
): Promise<CurrentSession | null> {
  const token = tokenOf(services.vault, headers);
  const session = token === null ? null : await findSession(services, token);
  if (token === null || session === null) return null;
  const isOver =
    session.personId === undefined
      ? keysOf(services, session).length === 0
      : findSessionPerson(services, session) === null;
  return isOver ? null : { session, token };
}

/** @throws GatewayError `unknown_console_session` */
async function requireCurrent(
  services: AccessServices,
  headers: BrowserHeaders,
): Promise<CurrentSession> {
  const found = await current(services, headers);
  if (found === null) throw new GatewayError('unknown_console_session');
  return found;
}

function shown(services: AccessServices, { session, token }: CurrentSession) {
  const person = findSessionPerson(services, session);
  return presentSession({
    session,
    keys: keysOf(services, session),
    person,
    accesses: person === null ? [] : accessesOf(services, person),
    csrfToken: csrfTokenOf(services.vault, token),
  });
}

/** The person, or the first key, which acts for the session as a whole. */
const actorOf = ({ personId, keys: [first] }: ConsoleSession): string =>
  personId === undefined ? `key:${first?.id ?? ''}` : `user:${personId}`;

/** One event for each key, in the chain of its environment or of the account. */
async function auditKeys(
  { audit, logger }: AccessServices,
  keys: readonly SessionKey[],
  input: { readonly action: string; readonly session: ConsoleSession; readonly address: string },
): Promise<void> {
  const { action, session, address } = input;
  const sent = keys.map(async ({ key }) => {
    const environment = key.environmentUid ?? 'account';
    const entry = {
      actor: `key:${key.id}`,
      action,
      target: session.id,
      outcome: 'success',
      ip_prefix: ipPrefix(address),
      details: null,
    };
    await audit.change(environment, entry).catch((err: unknown) => {
      logger.error({ err, environment, audit: entry }, 'an audit event was lost');
    });
  });
  await Promise.all(sent);
}

export const consoleSessionRoutes: readonly AnyRoute[] = [
  signIn,
  show,
  signOut,
  removeOne,
  listOwn,
  endOwn,
  listAll,
  endOne,
];
