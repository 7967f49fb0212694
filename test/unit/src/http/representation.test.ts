import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { representation } from '../../../../src/http/representation.ts';

describe('a representation', () => {
  const account = representation<{ readonly uid: string; readonly owner: string | null }>()({
    id: [z.string(), ({ uid }) => uid],
    owner: [z.string().nullable(), ({ owner }) => owner],
    nickname: [z.string().optional(), ({ owner }) => owner ?? undefined],
  });

  it('shows each field of the subject, without those that are undefined', () => {
    expect(account.of({ uid: 'a', owner: null })).toStrictEqual({ id: 'a', owner: null });
    expect(Object.keys(account.of({ uid: 'a', owner: 'b' }))).toEqual(['id', 'owner', 'nickname']);
  });

  it('is accepted by its own schema, which takes no other field', () => {
    const shown = account.of({ uid: 'a', owner: 'b' });
    expect(account.schema.parse(shown)).toEqual(shown);
    expect(account.schema.safeParse({ ...shown, more: 1 }).success).toBe(false);
  });
});
