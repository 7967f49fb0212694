import { randomUUID } from 'node:crypto';
import type { ControlPlane, ExecuteOptions } from '#control-plane/control-plane.ts';
import { commandTo } from '#control-plane/entity.ts';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import type { Clock } from '#kernel/time.ts';
import type { Coordination } from '#ports/coordination.ts';
import { createPersonCode, withdrawalsOf, type MadeCode } from '../console-codes/handlers.ts';
import type { ConsoleSession } from '../console-sessions/console-session.ts';
import { consoleSessionRef } from '../console-sessions/entity.ts';
import { notifyEnded, sessionsOfPerson } from '../console-sessions/handlers.ts';
import type { SealedEntities, SharedValues } from '../services.ts';
import { personRef } from './entity.ts';
import { normalizedEmail, type Person, type SignInProfile } from './person.ts';
import type { Grant } from './roles.ts';

interface Deps extends SealedEntities, SharedValues {
  readonly clock: Clock;
}

/** What an owner gives a person. */
interface PersonInput {
  readonly email: string;
  readonly displayName: string;
  readonly grants: readonly Grant[];
}

/**
 * Creates a person with the roles that an owner gives.
 * @throws GatewayError `conflict` (the address is taken), `resource_capped`
 */
export async function createPerson(
  { control, vault }: SealedEntities,
  { email, displayName, grants }: PersonInput,
  options: ExecuteOptions,
): Promise<Person> {
  const id = randomUUID();
  const body = { type: 'Create', id, email: normalizedEmail(email), displayName, grants } as const;
  const requestHash = vault.fingerprint('request', JSON.stringify([email, displayName, grants]));
  const person = await control.execute(personRef(id), body, { requestHash, ...options });
  if (person === null) throw new GatewayError('server_error');
  return person;
}

/** Changes name or roles; every node applies it from its next request on. @throws GatewayError `not_found` */
export async function changePerson(
  services: Deps,
  id: string,
  changes: {
    readonly displayName?: string | undefined;
    readonly grants?: readonly Grant[] | undefined;
  },
  options: ExecuteOptions,
): Promise<void> {
  await services.control.execute(personRef(id), { type: 'Change', ...changes }, options);
  await notifyChanged(services, id);
}

/**
 * Ends the access of a person: the sessions and unused links end in the same decision. Every node refuses them at once or,
 * without coordination, when its view has applied the decision.
 * @throws GatewayError `not_found`
 */
export async function deactivatePerson(
  services: Deps,
  id: string,
  options: ExecuteOptions,
): Promise<void> {
  const { control } = services;
  await control.view.caughtUp();
  const sessions = sessionsOfPerson(services, id);
  const deactivate = commandTo(personRef(id), { type: 'Deactivate' });
  await control.askAll([deactivate, ...endsOf(sessions), ...withdrawalsOf(control, id)], options);
  await notifyChanged(services, id);
  for (const session of sessions) await notifyEnded(services, session.id);
}

const endsOf = (sessions: readonly ConsoleSession[]) =>
  sessions.map(({ id }) => commandTo(consoleSessionRef(id), { type: 'End' }));

/** @throws GatewayError `not_found` */
export async function reactivatePerson(
  services: Deps,
  id: string,
  options: ExecuteOptions,
): Promise<void> {
  await services.control.execute(personRef(id), { type: 'Reactivate' }, options);
  await notifyChanged(services, id);
}

/** Ends all sessions of a person. */
export async function endSessionsOf(
  services: Deps,
  id: string,
  options: ExecuteOptions,
): Promise<number> {
  await services.control.view.caughtUp();
  const sessions = sessionsOfPerson(services, id);
  if (sessions.length === 0) return 0;
  await services.control.askAll(endsOf(sessions), options);
  for (const session of sessions) await notifyEnded(services, session.id);
  return sessions.length;
}

/**
 * Notes a sign-in of the person, with the groups of the identity provider where one says them.
 * @throws GatewayError `person_deactivated`, `sign_in_refused`
 */
export async function signInPerson(
  services: Deps,
  id: string,
  profile?: SignInProfile,
): Promise<Person> {
  const options = { actor: `user:${id}` };
  const person = await services.control.execute(
    personRef(id),
    { type: 'SignIn', profile },
    options,
  );
  if (person === null) throw new GatewayError('server_error');
  if (profile !== undefined) await notifyChanged(services, id);
  return person;
}

/**
 * A code that signs in once as the person: an invitation until the first sign-in, and a short-lived one after it.
 * @throws GatewayError `person_deactivated`
 */
export async function makeSignInCode(
  services: SealedEntities,
  person: Person,
  options: Pick<ExecuteOptions, 'actor'>,
): Promise<MadeCode> {
  if (person.deactivatedAt !== null) throw new GatewayError('person_deactivated');
  const lifetimeMs = person.lastSignInAt === null ? limits.invitationMs : limits.signInLinkMs;
  return createPersonCode(services, { personId: person.id, lifetimeMs }, options);
}

const channel = 'people-changed';

async function notifyChanged({ coordination, logger }: Deps, id: string): Promise<void> {
  await coordination.publish(channel, id).catch((err: unknown) => {
    logger.warn({ err }, 'the other nodes hear of the change of a person from the log alone');
  });
}

/** Changes of people on any node that the view of this node may not have yet. */
export interface PeopleChanges extends AsyncDisposable {
  /** Resolves when the view has every change of the person of which this node was notified. */
  applied(personId: string): Promise<void>;
}

/** Subscribes to changes of people. */
export async function openPeopleChanges(
  coordination: Coordination,
  { view }: ControlPlane,
): Promise<PeopleChanges> {
  const pending = new Map<string, Promise<void>>();
  const follow = (id: string): Promise<void> => {
    const following = view.caughtUp().then(() => {
      if (pending.get(id) === following) pending.delete(id);
    });
    following.catch(() => undefined);
    pending.set(id, following);
    return following;
  };
  const subscription = await coordination.subscribe(channel, (id) => void follow(id));
  return {
    async applied(personId) {
      // One that failed, because the log was away, is tried once more.
      await pending.get(personId)?.catch(() => follow(personId));
    },
    [Symbol.asyncDispose]: () => subscription[Symbol.asyncDispose](),
  };
}
