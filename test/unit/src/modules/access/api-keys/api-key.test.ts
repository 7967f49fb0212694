import { describe, expect, it } from 'vitest';
import type { Sealed } from '#kernel/ids.ts';
import { apiKey, type CreateKey } from '#modules/access/api-keys/api-key.ts';
import { given } from '#test/support/judges/given.ts';

const create = (more: Partial<CreateKey> = {}): CreateKey => ({
  type: 'Create',
  id: 'k1',
  environmentUid: 'e1',
  displayName: 'CI',
  scopes: ['environment:deploy'],
  hash: 'h',
  secret: 's' as Sealed<string>,
  lastFour: 'abcd',
  at: 5,
  isNameTaken: false,
  keysInScope: 0,
  ...more,
});

describe('an API key', () => {
  it('is made with the time of the decision and was never used', () => {
    const state = given(apiKey).when(create()).state();
    expect(state).toMatchObject({ displayName: 'CI', createdAt: 5, lastUsedAt: null });
  });

  it('is refused when its name is taken or the environment has 50', () => {
    given(apiKey)
      .when(create({ isNameTaken: true }))
      .refused('conflict');
    given(apiKey)
      .when(create({ keysInScope: 50 }))
      .refused('resource_capped');
  });

  it('notes later uses only, and none once it is deleted', () => {
    const key = given(apiKey).when(create()).state();
    if (key === null) throw new Error('not made');
    const used = { type: 'KeyUsed', usedAt: 9 } as const;
    const known = given(apiKey, { type: 'KeyCreated', key }, used);
    known.when({ type: 'ObserveUse', usedAt: 9, at: 10 }).then();
    known.when({ type: 'ObserveUse', usedAt: 10, at: 10 }).then({ type: 'KeyUsed', usedAt: 10 });
    given(apiKey).when({ type: 'ObserveUse', usedAt: 10, at: 10 }).then();
    given(apiKey).when({ type: 'Delete', at: 10 }).refused('not_found');
  });
});
