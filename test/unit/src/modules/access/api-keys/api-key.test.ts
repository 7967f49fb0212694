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
    known
      .when({ type: 'ObserveUse', usedAt: 10, at: 10 })
      .then({ type: 'KeyUsed', usedAt: 10, from: null });
    given(apiKey).when({ type: 'ObserveUse', usedAt: 10, at: 10 }).then();
    given(apiKey).when({ type: 'Delete', at: 10 }).refused('not_found');
  });

  it('that an earlier commit wrote opens, expires never and can be rotated', () => {
    const { expiresAt: _, lastUsedFrom: __, ...earlier } = madeKey();
    const rotate = { type: 'Rotate', ...secondSecret, overlapMs: 10, at: 20 } as const;
    const state = given(apiKey, { type: 'KeyCreated', key: earlier }).when(rotate).state();
    expect(state).toMatchObject({ hash: 'h2', expiresAt: null, previous: { validUntil: 30 } });
  });

  it('counts a use for the secret of the request, even if that was replaced meanwhile', () => {
    const previous = { ...endedPrevious, validUntil: 100 };
    const rotated = {
      type: 'KeyRotated',
      secret: secondSecret,
      previous,
      expiresAt: null,
    } as const;
    const key = given(apiKey, { type: 'KeyCreated', key: madeKey() }, rotated);
    const use = { type: 'ObserveUse', usedAt: 40, from: '192.0.2.0/24', at: 41 } as const;
    const noted = { type: 'KeyUsed', usedAt: 40, from: '192.0.2.0/24' } as const;
    key.when({ ...use, hash: 'h' }).then({ ...noted, isPrevious: true });
    key.when({ ...use, hash: 'h2' }).then(noted);
    key.when({ ...use, hash: 'older' }).then();
    expect(key.when({ ...use, hash: 'h' }).state()).toMatchObject({
      lastUsedAt: null,
      previous: { lastUsedAt: 40, lastUsedFrom: '192.0.2.0/24' },
    });
  });

  it('keeps an earlier secret no longer than the expiry that it had', () => {
    const key = { ...madeKey(), expiresAt: 25 };
    const rotate = { type: 'Rotate', ...secondSecret, overlapMs: 10, at: 20 } as const;
    const state = given(apiKey, { type: 'KeyCreated', key }).when({ ...rotate, expiresAt: null });
    expect(state.state()).toMatchObject({ expiresAt: null, previous: { validUntil: 25 } });
  });
});

const secondSecret = { hash: 'h2', secret: 's2' as Sealed<string>, lastFour: 'efgh' };
const endedPrevious = { hash: 'h', lastFour: 'abcd', lastUsedAt: null, lastUsedFrom: null };

function madeKey() {
  const key = given(apiKey).when(create()).state();
  if (key === null) throw new Error('not made');
  return key;
}
