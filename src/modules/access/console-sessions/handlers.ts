import { randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import {
  type ExecuteOptions,
  findCaughtUp,
  type ControlPlane,
} from '#control-plane/control-plane.ts';
import { commandTo } from '#control-plane/entity.ts';
import type { CommandOf } from '#control-plane/entity.ts';
import type { Caller } from '#http/define-route.ts';
import { expiringCache } from '#kernel/cache.ts';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import type { Clock, Instant } from '#kernel/time.ts';
import { isExpired, type ApiKey } from '../api-keys/api-key.ts';
import { notifyRevoked, opensKey } from '../api-keys/handlers.ts';
import { findKey } from '../api-keys/queries.ts';
import type { KeyName } from '../console-codes/console-code.ts';
import { environmentRef } from '../environments/entity.ts';
import type { Environment } from '../environments/environment.ts';
import { personRef } from '../people/entity.ts';
import type { Person } from '../people/person.ts';
import { accessIn } from '../people/queries.ts';
import type { SealedEntities, SharedValues } from '../services.ts';
import {
  endOf,
  type BrowserSummary,
  type ConsoleSession,
  type SessionKeyName,
} from './console-session.ts';
import { consoleSessionRef, consoleSessionEntity, type ConsoleSessionEntity } from './entity.ts';

interface Deps extends SealedEntities {
  readonly clock: Clock;
}

interface TimedEntities {
  readonly control: ControlPlane;
  readonly clock: Clock;
}

/** A key of a session, with the environment that it opens; null for a key of the account. */
export interface SessionKey {
  readonly key: ApiKey;
  readonly environment: Environment | null;
}

/**
 * Signs a browser in: always as a new session with a new token. The session that the browser had ends in the same decision,
 * and its keys go over: a token that was planted in the browser opens nothing that is added to it.
 * @throws GatewayError `resource_capped`: the browser keeps the session that it had
 */
export async function createSession(
  services: SealedEntities & SharedValues,
  input: {
    readonly keys: readonly KeyName[];
    /** Signs in as the person, without keys. */
    readonly personId?: string;
    readonly browser: BrowserSummary;
    /** Id of the session of the browser; null without one. */
    readonly replacesId: string | null;
  },
  options: ExecuteOptions,
): Promise<{ readonly session: ConsoleSession; readonly token: string }> {
  const { control, vault } = services;
  const { keys, personId, browser, replacesId } = input;
  const token = randomBytes(32).toString('base64url');
  const id = randomUUID();
  const hash = hashOf(vault, token);
  const create = commandTo(consoleSessionRef(id), {
    type: 'Create',
    id,
    hash,
    keys,
    personId,
    browser,
    replaces: replacesId ?? undefined,
  });
  const end =
    replacesId === null ? [] : [commandTo(consoleSessionRef(replacesId), { type: 'End' })];
  const [session] = await control.askAll([create, ...end], options);
  if (session === null) throw new GatewayError('server_error');
  if (replacesId !== null) await notifyEnded(services, replacesId);
  return { session, token };
}

/** Takes a key out; without its last key a session ends. @throws GatewayError `not_found` */
export async function removeKey(
  { control }: { readonly control: ControlPlane },
  { id, keys }: ConsoleSession,
  keyId: string,
  options: ExecuteOptions,
): Promise<void> {
  if (!keys.some((key) => key.id === keyId)) {
    const message = `The console session holds no key with the id ${keyId}.`;
    throw new GatewayError('not_found', { message });
  }
  await control.execute(consoleSessionRef(id), { type: 'RemoveKey', keyId }, options);
}

/** Ends the session; every node refuses it at once or, without coordination, when its view has applied the end. */
export async function endSession(
  services: SharedValues & { readonly control: ControlPlane },
  session: ConsoleSession,
  options: ExecuteOptions,
): Promise<void> {
  await services.control.execute(consoleSessionRef(session.id), { type: 'End' }, options);
  await notifyEnded(services, session.id);
}

/** Every node refuses the session at once. */
export async function notifyEnded(
  { coordination, logger }: SharedValues,
  id: string,
): Promise<void> {
  await notifyRevoked(coordination, id).catch((err: unknown) => {
    logger.warn({ err }, 'the other nodes hear of an ended console session from the log alone');
  });
}

/** The session of a token, from any node; null: it has ended or never was. */
export async function findSession(
  { control: { view }, vault, clock }: Deps,
  token: string,
): Promise<ConsoleSession | null> {
  const hash = hashOf(vault, token);
  const session = await findCaughtUp(
    view,
    () => view.findBy(consoleSessionEntity, 'hash', hash)?.state ?? null,
  );
  return session === null || clock.now() >= endOf(session) ? null : session;
}

/**
 * Whether the key of the caller, with the secret that it has sent, and the session of the console in whose name it acts,
 * are valid in the view of this node, or the person has the same scopes as before: for responses that outlast their
 * authorization.
 */
export function isStillAuthorized(services: TimedEntities, caller: Caller): boolean {
  const { control, clock } = services;
  const { environmentUid, keyId, secretHash, personId, consoleSessionId } = caller;
  if (consoleSessionId === undefined) {
    const key = findKey(control, environmentUid, keyId);
    return key !== null && opensKey(key, secretHash, clock.now());
  }
  const session = control.view.find(consoleSessionRef(consoleSessionId));
  if (session === null || clock.now() >= endOf(session)) return false;
  if (personId === undefined) return keysOf(services, session).some(({ key }) => key.id === keyId);
  return session.personId === personId && hasSameScopes(control, caller, personId);
}

function hasSameScopes(control: ControlPlane, caller: Caller, personId: string): boolean {
  const person = findSessionPerson({ control }, { personId });
  if (person === null) return false;
  const environment = control.view.find(environmentRef(caller.environmentUid));
  if (environment === null || environment.isDeleting) return false;
  const { scopes } = accessIn(person, environment);
  return (
    scopes.length === caller.scopes.length && caller.scopes.every((one) => scopes.includes(one))
  );
}

/** The person of a session; null: it is one of keys, or the person may not sign in any more. */
export function findSessionPerson(
  { control }: { readonly control: ControlPlane },
  { personId }: Pick<ConsoleSession, 'personId'>,
): Person | null {
  const person = personId === undefined ? null : control.view.find(personRef(personId));
  return person === null || person.deactivatedAt !== null ? null : person;
}

/** Sessions of a person that live, newest first. */
export function sessionsOfPerson(
  { control, clock }: { readonly control: ControlPlane; readonly clock: Clock },
  personId: string,
): readonly ConsoleSession[] {
  return livingOf(control.view.listBy(consoleSessionEntity, 'person', personId), clock);
}

/** All sessions that live, newest first. */
export function listSessions({
  control,
  clock,
}: {
  readonly control: ControlPlane;
  readonly clock: Clock;
}): readonly ConsoleSession[] {
  return livingOf(control.view.list(consoleSessionEntity, []), clock);
}

const livingOf = (
  found: readonly { readonly state: ConsoleSession }[],
  clock: Clock,
): readonly ConsoleSession[] =>
  found
    .map(({ state }) => state)
    .filter((session) => clock.now() < endOf(session))
    .sort((left, right) => right.createdAt - left.createdAt);

/** The text that the console sends with each request beside its cookie; readable only by a page of this origin. */
export const csrfTokenOf = (vault: Deps['vault'], token: string): string =>
  vault.fingerprint('console-csrf', token);

/** @throws GatewayError `invalid_csrf_token` */
export function checkCsrf(vault: Deps['vault'], token: string, sent: string | undefined): void {
  const wanted = Buffer.from(csrfTokenOf(vault, token));
  const received = Buffer.from(sent ?? '');
  if (received.length === wanted.length && timingSafeEqual(received, wanted)) return;
  throw new GatewayError('invalid_csrf_token');
}

/** The valid keys of a session, in the order in which they were added. */
export function keysOf(
  services: TimedEntities,
  { keys }: Pick<ConsoleSession, 'keys'>,
): readonly SessionKey[] {
  return keys.flatMap((name) => {
    const found = findSessionKey(services, name);
    return found === null ? [] : [found];
  });
}

/**
 * Null: the key was deleted, has expired, or got another secret and the one before, which may have opened the session, has
 * ended; or its environment is being deleted.
 */
export function findSessionKey(
  { control, clock }: TimedEntities,
  { environmentUid, id, addedAt = 0 }: SessionKeyName,
): SessionKey | null {
  const key = findKey(control, environmentUid, id);
  const now = clock.now();
  if (key === null || isExpired(key, now) || outlivesSecret(key, addedAt, now)) return null;
  if (environmentUid === null) return { key, environment: null };
  const environment = control.view.find(environmentRef(environmentUid));
  return environment?.isDeleting === false ? { key, environment } : null;
}

/** A session does not record which of the two secrets opened it: the end of the one ends those of before. */
const outlivesSecret = ({ previous }: ApiKey, addedAt: Instant, now: Instant): boolean =>
  previous !== undefined && now >= previous.validUntil && addedAt < previous.validUntil;

/** Sessions whose last use is remembered; a forgotten one is noted once more. */
const notedMax = 10_000;

/** Notes the use of sessions in the log, each at most once per `limits.consoleSessionNotedMs`. */
export function createSessionUseNoter({
  control,
  clock,
}: {
  readonly control: ControlPlane;
  readonly clock: Clock;
}) {
  const noted = expiringCache<true>(notedMax, limits.consoleSessionNotedMs, clock);
  return async ({ id, usedAt }: ConsoleSession): Promise<void> => {
    const now = clock.now();
    if (noted.has(id) || now - usedAt < limits.consoleSessionNotedMs) return;
    noted.set(id, true);
    const body: CommandOf<ConsoleSessionEntity> = { type: 'ObserveUse', usedAt: now };
    await control.enqueue(consoleSessionRef(id), body, { actor: 'system' });
  };
}

const hashOf = (vault: Deps['vault'], token: string): string =>
  vault.fingerprint('console-session', token);
