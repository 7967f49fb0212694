import { describe, expect, it } from 'vitest';
import {
  assign,
  decodeAssignment,
  encodeAssignment,
  encodeClaim,
} from '#adapters/event-log/kafka/membership.ts';

const member = (memberId: string, held: readonly number[], generation = 1) => ({
  memberId,
  memberMetadata: encodeClaim({ topics: ['t'], held, generation }),
});

describe('an assignment', () => {
  it('gives everything to who is alone', () => {
    expect([...assign([member('a', [])], 3)]).toEqual([['a', [0, 1, 2]]]);
  });

  it('takes from who has too many before it gives to another', () => {
    const both = [member('a', [0, 1, 2, 3]), member('b', [])];
    const given = assign(both, 4);
    expect(given.get('a')).toHaveLength(2);
    expect(given.get('b')).toEqual([]);
    const released = [member('a', given.get('a') ?? [], 2), member('b', [], 2)];
    const after = assign(released, 4);
    expect(after.get('a')).toEqual(given.get('a'));
    expect([...(after.get('a') ?? []), ...(after.get('b') ?? [])].sort()).toEqual([0, 1, 2, 3]);
  });

  it('believes the later of two that claim a number', () => {
    const given = assign([member('late', [0, 1], 5), member('stale', [0, 1], 4)], 2);
    expect(given.get('late')).toHaveLength(1);
    expect(given.get('stale')).toEqual([]);
  });

  it('ignores numbers that there are not', () => {
    expect(assign([member('a', [7])], 2).get('a')).toEqual([0, 1]);
  });

  it('is carried for every topic of the group, so that tools see it', () => {
    expect(decodeAssignment(encodeAssignment(['one', 'two'], [3, 1]))).toEqual([1, 3]);
    expect(decodeAssignment(encodeAssignment(['one'], []))).toEqual([]);
  });
});
