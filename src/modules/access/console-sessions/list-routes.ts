import { z } from 'zod';
import type { AnyRoute } from '#http/define-route.ts';
import { repeatableOptions } from '#http/options.ts';
import { representation } from '#http/representation.ts';
import { data, json, nothing, succeeded, timestamp } from '#http/responses.ts';
import { browserHeaders } from '#http/same-origin.ts';
import { GatewayError } from '#kernel/errors.ts';
import { isoMillis } from '#kernel/time.ts';
import type { Person } from '../people/person.ts';
import { defineRoute, type AccessServices } from '../services.ts';
import { type ConsoleSession, endOf } from './console-session.ts';
import { actorOf, changeHeaders, requireCurrent, requireSameOrigin } from './current.ts';
import {
  checkCsrf,
  endSession,
  findSessionPerson,
  keysOf,
  listSessions,
  sessionsOfPerson,
  type SessionKey,
} from './handlers.ts';
import { auditSession } from './start.ts';

/** Who is signed in, in a session. */
export const personShape = z
  .strictObject({
    id: z.uuid().describe('Id of the person.'),
    email: z.string().describe('E-mail address of the person.'),
    display_name: z.string().describe('Name of the person.'),
  })
  .nullable()
  .describe('Who is signed in; null in a session of keys.');

export const presentSessionPerson = (person: Person | null) =>
  person && { id: person.id, email: person.email, display_name: person.displayName };

const noStore = { 'cache-control': 'no-store' };

/** A session in a list. */
const listed = representation<ListedSession>()({
  id: [z.uuid().describe('Id of the session.'), ({ session }) => session.id],
  person: [personShape, ({ person }) => presentSessionPerson(person)],
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

export const sessionListRoutes: readonly AnyRoute[] = [listOwn, endOwn, listAll, endOne];
