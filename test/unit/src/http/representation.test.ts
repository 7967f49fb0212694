import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { representation } from '#http/representation.ts';

interface Account {
  readonly uid: string;
  readonly owner: string | null;
  readonly usedBy?: readonly string[];
}

describe('a representation', () => {
  const account = representation<Account>()({
    id: [z.string(), ({ uid }) => uid],
    owner: z.string().nullable(),
    used_by: z.array(z.string()).optional(),
    nickname: [z.string().optional(), ({ owner }) => owner ?? undefined],
  });

  it('shows each field of the subject, without those that are undefined', () => {
    expect(account.of({ uid: 'a', owner: null })).toStrictEqual({ id: 'a', owner: null });
    expect(Object.keys(account.of({ uid: 'a', owner: 'b' }))).toEqual(['id', 'owner', 'nickname']);
  });

  it('shows the property of the same name where it declares only a schema', () => {
    const shown = account.of({ uid: 'a', owner: null, usedBy: ['c'] });
    expect(shown).toStrictEqual({ id: 'a', owner: null, used_by: ['c'] });
  });

  it('accepts only a schema that fits the property', () => {
    // @ts-expect-error: the owner may be null
    representation<Account>()({ owner: z.string() });
    // @ts-expect-error: there is no such property
    representation<Account>()({ nickname: z.string().optional() });
  });

  it('is accepted by its own schema, which takes no other field', () => {
    const shown = account.of({ uid: 'a', owner: 'b' });
    expect(account.schema.parse(shown)).toEqual(shown);
    expect(account.schema.safeParse({ ...shown, more: 1 }).success).toBe(false);
  });
});
