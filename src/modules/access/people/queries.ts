import { findCaughtUp, type ControlPlane } from '#control-plane/control-plane.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { Environment } from '../environments/environment.ts';
import { listEnvironments } from '../environments/queries.ts';
import { personEntity, personRef, subjectKey } from './entity.ts';
import { grantsOf, type Person, type Subject } from './person.ts';
import { rolesIn, scopesInAccount, scopesInEnvironment, type Role } from './roles.ts';

type Deps = { readonly control: ControlPlane };

/** By address. */
export function listPeople({ view }: ControlPlane): Person[] {
  const people = view.list(personEntity, []).map(({ state }) => state);
  return people.sort((left, right) => (left.email < right.email ? -1 : 1));
}

export const findPersonByEmail = ({ view }: ControlPlane, email: string): Person | null =>
  view.findBy(personEntity, 'email', email)?.state ?? null;

export const findPersonBySubject = ({ view }: ControlPlane, subject: Subject): Person | null =>
  view.findBy(personEntity, 'subject', subjectKey(subject))?.state ?? null;

/** @throws GatewayError `not_found` naming the person */
export async function requirePerson({ view }: ControlPlane, id: string): Promise<Person> {
  const found = await findCaughtUp(view, () => view.find(personRef(id)));
  if (found !== null) return found;
  throw new GatewayError('not_found', { message: `There is no person with the id ${id}.` });
}

/** What a person may do in one place. */
export interface PersonAccess {
  /** Null: the account. */
  readonly environment: Environment | null;
  readonly roles: readonly Role[];
  readonly scopes: readonly string[];
}

/** Where a person may act: the account first, then environments by name. */
export function accessesOf({ control }: Deps, person: Person): readonly PersonAccess[] {
  const places = [null, ...listEnvironments(control)];
  return places
    .map((environment) => accessIn(person, environment))
    .filter(({ scopes }) => scopes.length > 0);
}

/** What the person may do in the environment, or in the account at null. */
export function accessIn(person: Person, environment: Environment | null): PersonAccess {
  const roles = rolesIn(grantsOf(person), environment?.uid ?? null);
  const scopes = environment === null ? scopesInAccount(roles) : scopesInEnvironment(roles);
  return { environment, roles, scopes };
}
