import { GatewayError } from '#kernel/errors.ts';
import type { IdentityClaims } from '#ports/identity-provider.ts';
import { personRef } from '../people/entity.ts';
import { createPerson, signInPerson } from '../people/handlers.ts';
import { normalizedEmail, type Person, type SignInProfile } from '../people/person.ts';
import { findPersonByEmail, findPersonBySubject } from '../people/queries.ts';
import type { AccessServices, SignInSettings } from '../services.ts';
import { grantsOfGroups } from './group-roles.ts';

/** Whom the claims are about. */
interface Candidate {
  readonly email: string;
  readonly profile: SignInProfile;
  /** Null: nobody signed in or was invited with this address. */
  readonly person: Person | null;
}

/**
 * The person of the claims, who is signed in with the roles of the groups and those of owners. Someone with a role by a
 * group needs no invitation.
 * @throws GatewayError `no_role`, `sign_in_refused`, `person_deactivated`
 */
export async function admit(
  services: AccessServices,
  settings: SignInSettings,
  claims: IdentityClaims,
): Promise<Person> {
  await services.control.view.caughtUp();
  const candidate = candidateOf(services, settings, claims);
  const { email, person, profile } = candidate;
  if (person?.deactivatedAt != null) throw new GatewayError('person_deactivated');
  const { groupGrants } = profile;
  if (groupGrants.length === 0 && (person?.grants ?? []).length === 0) {
    await withoutGroups(services, candidate);
    throw noRole(claims, email);
  }
  if (person !== null) return signInPerson(services, person.id, profile);
  const created = await createOnce(services, { email, displayName: profile.displayName });
  return signInPerson(services, created.id, profile);
}

/** @throws GatewayError `sign_in_refused` */
function candidateOf(
  services: AccessServices,
  { groupRoles, isEmailTrusted }: SignInSettings,
  claims: IdentityClaims,
): Candidate {
  const { issuer, sub, name, groups } = claims;
  const email = normalizedEmail(claims.email ?? '');
  if (email === '') {
    throw new GatewayError('sign_in_refused', {
      message: 'The identity provider sent no e-mail address of yours.',
      fix: 'Ask the operator to add the scope email to SVC_OIDC_SCOPES, and the claim at the provider.',
    });
  }
  if (!(claims.isEmailVerified ?? isEmailTrusted)) throw unverified(claims, email);
  const subject = { issuer, sub };
  const known = findPersonBySubject(services.control, subject);
  const person = known ?? findPersonByEmail(services.control, email);
  const groupGrants = grantsOfGroups(services, groupRoles, groups);
  const displayName = (name ?? person?.displayName ?? email).slice(0, nameMax);
  return { email, person, profile: { subject, displayName, groupGrants } };
}

const nameMax = 255;

const unverified = ({ isEmailVerified, issuer }: IdentityClaims, email: string): GatewayError =>
  new GatewayError('sign_in_refused', {
    message:
      isEmailVerified === null
        ? `${issuer} does not say whether the address ${email} is verified.`
        : `The address ${email} is not verified at ${issuer}.`,
    fix:
      isEmailVerified === null
        ? 'Ask the operator to add the claim email_verified at the provider, or to set SVC_OIDC_TRUST_EMAIL=yes if all of its addresses are verified.'
        : 'Verify the address at the identity provider, and sign in again.',
  });

const shownGroups = 20;

function noRole({ groups }: IdentityClaims, email: string): GatewayError {
  const received =
    groups.length === 0
      ? 'The identity provider sent none of your groups'
      : `None of your groups has a role here (${groups.slice(0, shownGroups).join(', ')})`;
  return new GatewayError('no_role', {
    message: `${received}, and ${email} is not invited.`,
    fix: 'Ask an owner of the account to invite this address, or the operator to give one of your groups a role in SVC_OIDC_ROLES.',
  });
}

/** Someone who left all groups keeps no role in sessions that go on. */
async function withoutGroups({ control }: AccessServices, { person }: Candidate): Promise<void> {
  if (person === null || person.groupGrants.length === 0) return;
  const options = { actor: `user:${person.id}` };
  await control.execute(personRef(person.id), { type: 'LeaveGroups' }, options);
}

/** Of two first sign-ins at the same time, the second finds the person of the first. */
async function createOnce(
  services: AccessServices,
  { email, displayName }: { readonly email: string; readonly displayName: string },
): Promise<Person> {
  try {
    return await createPerson(services, { email, displayName, grants: [] }, { actor: 'system' });
  } catch (error) {
    await services.control.view.caughtUp();
    const person = findPersonByEmail(services.control, email);
    if (person === null) throw error;
    return person;
  }
}
