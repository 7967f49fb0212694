import { z } from 'zod';
import type { AnyRoute } from '#http/define-route.ts';
import { representation } from '#http/representation.ts';
import { json, nothing, timestamp } from '#http/responses.ts';
import { browserHeaders } from '#http/same-origin.ts';
import { GatewayError } from '#kernel/errors.ts';
import { isoMillis, isoMillisOrNull } from '#kernel/time.ts';
import { authenticate } from '../api-keys/handlers.ts';
import { isKeyFormat } from '../api-keys/key-format.ts';
import type { KeyName } from '../console-codes/console-code.ts';
import { useCode } from '../console-codes/handlers.ts';
import { signInPerson } from '../people/handlers.ts';
import type { Person } from '../people/person.ts';
import { accessesOf, type PersonAccess } from '../people/queries.ts';
import { roleNames } from '../people/roles.ts';
import { defineRoute, type AccessServices } from '../services.ts';
import { browserSummary } from './browser.ts';
import { type ConsoleSession, endOf } from './console-session.ts';
import { cookieFor } from './cookie.ts';
import {
  actorOf,
  changeHeaders,
  countSignIn,
  current,
  requireCurrent,
  requireSameOrigin,
  signInHeaders,
  type CurrentSession,
} from './current.ts';
import {
  checkCsrf,
  createSession,
  csrfTokenOf,
  endSession,
  findSessionKey,
  findSessionPerson,
  keysOf,
  removeKey,
  type SessionKey,
} from './handlers.ts';
import { personShape, presentSessionPerson, sessionListRoutes } from './list-routes.ts';
import {
  auditSession,
  secondsOf,
  sessionEntry,
  startPersonSession,
  type SessionAction,
  type SignInRequest,
} from './start.ts';

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
  person: [personShape, ({ person }) => presentSessionPerson(person)],
  access: [
    z.array(access.schema).describe('Where the person has a role; empty in a session of keys.'),
    ({ accesses }) => accesses.map(access.of),
  ],
});

const presentSession = shownSession.of;
const sessionShape = shownSession.schema.meta({ id: 'ConsoleSession' });

const noStore = { 'cache-control': 'no-store' };
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

/** One event for each key, in the chain of its environment or of the account. */
async function auditKeys(
  { audit }: AccessServices,
  keys: readonly SessionKey[],
  action: SessionAction,
): Promise<void> {
  const sent = keys.map(({ key }) =>
    audit.happened(key.environmentUid ?? 'account', sessionEntry(`key:${key.id}`, action)),
  );
  await Promise.all(sent);
}

export const consoleSessionRoutes: readonly AnyRoute[] = [
  signIn,
  show,
  signOut,
  removeOne,
  ...sessionListRoutes,
];
