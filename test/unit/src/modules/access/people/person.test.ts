import { describe, expect, it } from 'vitest';
import { limits } from '#kernel/limits.ts';
import { person, type Person } from '#modules/access/people/person.ts';
import { given } from '#test/support/judges/given.ts';

const grants = [{ environmentUid: 'e1', role: 'support' }] as const;
const input = { id: 'p1', email: 'ada@example.com', displayName: 'Ada', grants };
const ada: Person = {
  ...input,
  subject: null,
  groupGrants: [],
  createdAt: 1000,
  lastSignInAt: null,
  deactivatedAt: null,
};
const created = { type: 'PersonCreated', person: ada } as const;
const create = { type: 'Create', ...input, at: 1000 } as const;
const profile = (sub: string, role: 'owner' | 'developer') => ({
  subject: { issuer: 'https://id.example.com', sub },
  displayName: 'Ada Lovelace',
  groupGrants: [{ environmentUid: null, role }],
});

describe('a person', () => {
  it('is created once, with an address of their own', () => {
    given(person)
      .when({ ...create, isEmailTaken: false, people: 0 })
      .then(created);
    given(person)
      .when({ ...create, isEmailTaken: true, people: 1 })
      .refused('conflict');
    given(person, created)
      .when({ ...create, isEmailTaken: false, people: 1 })
      .refused('conflict');
    given(person)
      .when({ ...create, isEmailTaken: false, people: limits.peopleMax })
      .refused('resource_capped');
  });

  it('keeps the roles of an owner, and gets those of the groups at each sign-in', () => {
    const first = given(person, created)
      .when({ type: 'SignIn', profile: profile('s1', 'owner'), at: 2000 })
      .state();
    expect(first).toMatchObject({ ...profile('s1', 'owner'), grants, lastSignInAt: 2000 });
    const signedIn = { type: 'PersonSignedIn', at: 2000, profile: profile('s1', 'owner') } as const;
    const second = given(person, created, signedIn)
      .when({ type: 'SignIn', profile: profile('s1', 'developer'), at: 3000 })
      .state();
    expect(second).toMatchObject({ ...profile('s1', 'developer'), grants });
    // A link says nothing of groups.
    const third = given(person, created, signedIn).when({ type: 'SignIn', at: 4000 }).state();
    expect(third).toMatchObject({ ...profile('s1', 'owner'), grants, lastSignInAt: 4000 });
  });

  it('keeps their account at the identity provider when another gets the address', () => {
    const signedIn = { type: 'PersonSignedIn', at: 2000, profile: profile('s1', 'owner') } as const;
    given(person, created, signedIn)
      .when({ type: 'SignIn', profile: profile('s2', 'owner'), at: 3000 })
      .refused('sign_in_refused');
  });

  it('does not sign in while deactivated', () => {
    const deactivated = { type: 'PersonDeactivated', at: 2000 } as const;
    given(person, created).when({ type: 'Deactivate', at: 2000 }).then(deactivated);
    const known = given(person, created, deactivated);
    known.when({ type: 'Deactivate', at: 3000 }).then();
    known.when({ type: 'SignIn', at: 3000 }).refused('person_deactivated');
    known
      .when({ type: 'SignIn', profile: profile('s1', 'owner'), at: 3000 })
      .refused('person_deactivated');
    known.when({ type: 'Reactivate', at: 3000 }).then({ type: 'PersonReactivated' });
    given(person, created).when({ type: 'Reactivate', at: 3000 }).then();
  });

  it('is changed in what the command names', () => {
    const known = given(person, created);
    known
      .when({ type: 'Change', displayName: 'Countess', at: 2000 })
      .then({ type: 'PersonChanged', displayName: 'Countess', grants });
    known
      .when({ type: 'Change', grants: [], at: 2000 })
      .then({ type: 'PersonChanged', displayName: 'Ada', grants: [] });
    given(person).when({ type: 'Change', grants: [], at: 2000 }).refused('not_found');
  });
});
