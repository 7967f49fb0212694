import type { ControlPlane } from '#control-plane/control-plane.ts';
import type { Caller } from '#http/define-route.ts';
import { GatewayError } from '#kernel/errors.ts';
import { holdsScope } from '../api-keys/scopes.ts';
import { environmentRef } from '../environments/entity.ts';
import type { Environment } from '../environments/environment.ts';
import type { Person } from './person.ts';
import { accessIn, type PersonAccess } from './queries.ts';
import { rolesWith, type Role } from './roles.ts';

/**
 * The caller of a request that a person makes in an environment, or in the account.
 * @param where UUID of the environment, or `account`
 * @throws GatewayError `forbidden`: no role there, also where there is no such environment
 */
export function personCaller(
  { control }: { readonly control: ControlPlane },
  person: Person,
  { where, sessionId }: { readonly where: string | undefined; readonly sessionId: string },
): Caller {
  const access = accessAt(control, person, where);
  if (access === null || access.scopes.length === 0) {
    const place = where === 'account' ? 'the account' : 'this environment';
    const message = `You have no role in ${place}.`;
    throw new GatewayError('forbidden', { message, fix: askOwner });
  }
  const { environment, scopes } = access;
  return {
    credential: environment === null ? 'account' : 'environment',
    environmentUid: environment?.uid ?? '',
    keyId: person.id,
    personId: person.id,
    scopes,
    consoleSessionId: sessionId,
    actor: `user:${person.id}`,
    has: (scope) => holdsScope(scopes, scope),
    explainMissing: (wanted) => explainMissing(access, wanted),
  };
}

function accessAt(
  { view }: ControlPlane,
  person: Person,
  where: string | undefined,
): PersonAccess | null {
  if (where === 'account') return accessIn(person, null);
  const environment: Environment | null =
    where === undefined ? null : view.find(environmentRef(where));
  return environment === null || environment.isDeleting ? null : accessIn(person, environment);
}

const askOwner = 'Ask an owner of the account for a role.';

const roleTexts: Readonly<Record<Role, string>> = {
  owner: 'owner',
  developer: 'developer',
  support: 'support',
  read_only: 'read-only',
};

function explainMissing(
  { environment, roles }: PersonAccess,
  scopes: readonly string[],
): { readonly message: string; readonly fix: string } {
  const place = environment === null ? 'the account' : environment.name;
  const held = roles.map((role) => roleTexts[role]).join(' and ');
  const enough = rolesWith(scopes).map((role) => roleTexts[role]);
  const message = `Your role in ${place} is ${held}, without the scope ${scopes.join(' or ')}.`;
  return { message, fix: `Ask an owner of the account for the role ${enough.join(' or ')}.` };
}
