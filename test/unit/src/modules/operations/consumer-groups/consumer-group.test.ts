import { describe, it } from 'vitest';
import { consumerGroup } from '#modules/operations/consumer-groups/consumer-group.ts';
import { given } from '#test/support/judges/given.ts';

const reset = (id: string, partition: number, to: number) =>
  ({
    type: 'Reset',
    name: 'svc.runners',
    id,
    moves: [{ partition, from: 9, to, until: 12 }],
    isRepeat: false,
    by: 'key:1',
    at: 1000,
  }) as const;
const asked = (id: string, partition: number, to: number) =>
  ({
    type: 'ResetAsked',
    name: 'svc.runners',
    resets: {
      [partition]: {
        id,
        from: 9,
        to,
        until: 12,
        isRepeat: false,
        by: 'key:1',
        at: 1000,
        appliedAt: null,
      },
    },
  }) as const;
const applied = (id: string, partition: number) =>
  ({ type: 'Applied', id, partition, at: 2000 }) as const;

describe('a reset of a consumer group', () => {
  it('is asked for per partition', () => {
    given(consumerGroup)
      .when(reset('a', 1, 4))
      .then(asked('a', 1, 4));
  });

  it('is carried out once', () => {
    const done = { type: 'ResetApplied', partition: '1', at: 2000 } as const;
    given(consumerGroup, asked('a', 1, 4))
      .when(applied('a', 1))
      .then(done);
    given(consumerGroup, asked('a', 1, 4), done)
      .when(applied('a', 1))
      .then();
  });

  it('is replaced by a later one of the same partition, which the earlier holder then carries out', () => {
    const both = [asked('a', 1, 4), asked('b', 1, 6)];
    given(consumerGroup, ...both)
      .when(applied('a', 1))
      .then();
    given(consumerGroup, ...both)
      .when(applied('b', 1))
      .then({ type: 'ResetApplied', partition: '1', at: 2000 });
  });

  it('leaves other partitions alone', () => {
    given(consumerGroup, asked('a', 1, 4), asked('b', 2, 6))
      .when(applied('a', 1))
      .then({ type: 'ResetApplied', partition: '1', at: 2000 });
  });

  it('that nobody asked for is none', () => {
    given(consumerGroup).when(applied('a', 1)).then();
  });
});
