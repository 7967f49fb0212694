import type { EntityDefinition, EntityRef } from '#control-plane/entity.ts';
import {
  person,
  type CreatePersonFacts,
  type Person,
  type PersonCommand,
  type PersonEvent,
  type Subject,
} from './person.ts';

export interface PersonEntity {
  readonly kind: 'person';
  readonly state: Person;
  readonly command: PersonCommand;
  readonly event: PersonEvent;
  readonly facts: CreatePersonFacts;
  readonly index: 'email' | 'subject';
}

export const personRef = (id: string): EntityRef<PersonEntity> => ({
  kind: 'person',
  scope: 'account',
  path: [id],
});

/** As JSON, so that no issuer and `sub` run together. */
export const subjectKey = ({ issuer, sub }: Subject): string => JSON.stringify([issuer, sub]);

/** Not published on a public topic: addresses of people are for the console alone. */
export const personEntity: EntityDefinition<PersonEntity> = {
  kind: 'person',
  indexes: {
    email: ({ email }) => email,
    subject: ({ subject }) => (subject === null ? null : subjectKey(subject)),
  },
  decider: person,
  facts: (command, ref, siblings) => {
    if (command.type !== 'Create') return {};
    const people = siblings.list(ref, []);
    const isEmailTaken = people.some(({ email }) => email === command.email);
    return { isEmailTaken, people: people.length };
  },
  publish: () => [],
};
