import type { Decider } from '#kernel/decider.ts';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import type { Instant } from '#kernel/time.ts';
import type { Grant } from './roles.ts';

/** A person at the identity provider: `sub` is unique at its issuer. */
export interface Subject {
  readonly issuer: string;
  readonly sub: string;
}

/**
 * A person who signs in to the console. Kind `person`, scope `account`, path [id]. Indexes: `email`, and `subject` of the
 * identity provider.
 */
export interface Person {
  readonly id: string;
  /** In lower case; unique. */
  readonly email: string;
  readonly displayName: string;
  /** Null until the first sign-in with the identity provider. */
  readonly subject: Subject | null;
  /** From an owner. */
  readonly grants: readonly Grant[];
  /** From the groups of the last sign-in with the identity provider. */
  readonly groupGrants: readonly Grant[];
  readonly createdAt: Instant;
  readonly lastSignInAt: Instant | null;
  /** Null: may sign in. */
  readonly deactivatedAt: Instant | null;
}

/** What the identity provider says in a sign-in. */
export interface SignInProfile {
  readonly subject: Subject;
  readonly displayName: string;
  readonly groupGrants: readonly Grant[];
}

export type PersonEvent =
  | { readonly type: 'PersonCreated'; readonly person: Person }
  | {
      readonly type: 'PersonChanged';
      readonly displayName: string;
      readonly grants: readonly Grant[];
    }
  | {
      readonly type: 'PersonSignedIn';
      readonly at: Instant;
      /** Absent: with a link. */
      readonly profile?: SignInProfile;
    }
  | { readonly type: 'PersonLeftGroups' }
  | { readonly type: 'PersonDeactivated'; readonly at: Instant }
  | { readonly type: 'PersonReactivated' };

/** Facts that the owner adds. */
export interface CreatePersonFacts {
  readonly isEmailTaken: boolean;
  readonly people: number;
}

/** `at` is the owner's time. */
export type PersonCommand =
  | ({
      readonly type: 'Create';
      readonly id: string;
      readonly email: string;
      readonly displayName: string;
      readonly grants: readonly Grant[];
      readonly at: Instant;
    } & CreatePersonFacts)
  | {
      readonly type: 'Change';
      readonly displayName?: string | undefined;
      readonly grants?: readonly Grant[] | undefined;
      readonly at: Instant;
    }
  | {
      readonly type: 'SignIn';
      /** Absent: with a link. */
      readonly profile?: SignInProfile | undefined;
      readonly at: Instant;
    }
  /** None of the groups has a role any more. */
  | { readonly type: 'LeaveGroups'; readonly at: Instant }
  | { readonly type: 'Deactivate'; readonly at: Instant }
  | { readonly type: 'Reactivate'; readonly at: Instant };

export const person: Decider<Person | null, PersonCommand, PersonEvent> = {
  initial: null,

  decide(command, state) {
    if (command.type === 'Create') return created(command, state);
    if (state === null) {
      throw new GatewayError('not_found', { message: 'The person does not exist.' });
    }
    switch (command.type) {
      case 'Change': {
        const { displayName = state.displayName, grants = state.grants } = command;
        return [{ type: 'PersonChanged', displayName, grants }];
      }
      case 'SignIn':
        return signedIn(command, state);
      case 'LeaveGroups':
        return state.groupGrants.length === 0 ? [] : [{ type: 'PersonLeftGroups' }];
      case 'Deactivate':
        return state.deactivatedAt === null ? [{ type: 'PersonDeactivated', at: command.at }] : [];
      case 'Reactivate':
        return state.deactivatedAt === null ? [] : [{ type: 'PersonReactivated' }];
    }
  },

  evolve(state, event) {
    if (event.type === 'PersonCreated') return event.person;
    if (state === null) return null;
    switch (event.type) {
      case 'PersonChanged':
        return { ...state, displayName: event.displayName, grants: event.grants };
      case 'PersonSignedIn':
        return { ...state, ...event.profile, lastSignInAt: event.at };
      case 'PersonLeftGroups':
        return { ...state, groupGrants: [] };
      case 'PersonDeactivated':
        return { ...state, deactivatedAt: event.at };
      case 'PersonReactivated':
        return { ...state, deactivatedAt: null };
    }
  },
};

function created(
  command: Extract<PersonCommand, { type: 'Create' }>,
  state: Person | null,
): PersonEvent[] {
  const { id, email, displayName, grants, at } = command;
  if (state !== null || command.isEmailTaken) {
    throw new GatewayError('conflict', {
      message: `A person with the address ${email} already exists.`,
      fix: 'Change the roles of that person, or make a new sign-in link for them.',
    });
  }
  if (command.people >= limits.peopleMax) {
    const message = `The limit of ${limits.peopleMax} people is reached.`;
    throw new GatewayError('resource_capped', { message });
  }
  const created: Person = {
    id,
    email,
    displayName,
    subject: null,
    grants,
    groupGrants: [],
    createdAt: at,
    lastSignInAt: null,
    deactivatedAt: null,
  };
  return [{ type: 'PersonCreated', person: created }];
}

function signedIn(
  { profile, at }: Extract<PersonCommand, { type: 'SignIn' }>,
  state: Person,
): PersonEvent[] {
  if (state.deactivatedAt !== null) throw new GatewayError('person_deactivated');
  if (profile === undefined) return [{ type: 'PersonSignedIn', at }];
  const { subject } = state;
  // An address that was given to someone else does not open the account of its former holder.
  if (subject !== null && !isSameSubject(subject, profile.subject)) {
    throw new GatewayError('sign_in_refused', {
      message: `The address ${state.email} belongs to another account of the identity provider.`,
      fix: 'Ask an owner to deactivate the person of this address, and to invite you with another address.',
    });
  }
  return [{ type: 'PersonSignedIn', at, profile }];
}

const isSameSubject = (left: Subject, right: Subject): boolean =>
  left.issuer === right.issuer && left.sub === right.sub;

/** All grants of a person. */
export const grantsOf = ({ grants, groupGrants }: Person): readonly Grant[] => [
  ...grants,
  ...groupGrants,
];

/** An address as people are found by it. */
export const normalizedEmail = (email: string): string => email.trim().toLowerCase();
