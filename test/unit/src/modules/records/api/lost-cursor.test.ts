import { describe, expect, it } from 'vitest';
import { partitionOf } from '#kernel/partition.ts';
import type { LostChanges } from '#modules/access/environments/environment.ts';
import { refuseLost } from '#modules/records/api/lost-cursor.ts';
import { encodeCursor } from '#modules/records/model/cursor.ts';
import { streamKey, type Stream } from '#modules/records/model/stream.ts';

const stream = {
  environmentUid: 'env-1',
  connectionUid: 'connection-1',
  integration: 'crm',
  connectionId: 'customer-1',
  model: 'Contact',
  variant: 'base',
} as Stream;

/** Partitions of the log that was restored, and of the log now. */
const [former, partitions] = [4, 12];
const own = partitionOf(streamKey(stream), former);
const afterOf = (last: number, others: number): number[] =>
  Array.from({ length: former }, (_, partition) => (partition === own ? last : others));

const isRefused = (modifiedAt: number, lostChanges?: readonly LostChanges[]): boolean => {
  const services = {
    control: { view: { find: () => ({ lostChanges }) } },
    settings: { partitions },
  } as unknown as Parameters<typeof refuseLost>[0];
  try {
    refuseLost(services, stream, encodeCursor({ generation: 1n, position: 7, modifiedAt }));
    return false;
  } catch (error) {
    expect(error).toMatchObject({ code: 'invalid_cursor_value' });
    return true;
  }
};

describe('a cursor after a restore', () => {
  it('is refused only where its change is after the last of its partition, and before the restore', () => {
    const restored = [{ after: afterOf(1_000, 0), until: 2_000 }];
    expect([1, 1_000, 1_001, 2_000, 2_001].map((at) => isRefused(at, restored))).toEqual([
      false,
      false,
      true,
      true,
      false,
    ]);
    const behind = [{ after: afterOf(1_000, 5_000), until: 2_000 }];
    expect(isRefused(1_500, behind)).toBe(true);
  });

  it('is refused for each of several restores, and never without one', () => {
    const twice = [
      { after: afterOf(1_000, 0), until: 2_000 },
      { after: afterOf(3_000, 0), until: 4_000 },
    ];
    expect([1_500, 2_500, 3_500, 4_500].map((at) => isRefused(at, twice))).toEqual([
      true,
      false,
      true,
      false,
    ]);
    expect(isRefused(1_500)).toBe(false);
  });

  it('names the time to read again from', () => {
    const services = {
      control: {
        view: { find: () => ({ lostChanges: [{ after: afterOf(1_000_000, 0), until: 9e6 }] }) },
      },
      settings: { partitions },
    } as unknown as Parameters<typeof refuseLost>[0];
    const cursor = encodeCursor({ generation: 1n, position: 7, modifiedAt: 2_000_000 });
    expect(() => refuseLost(services, stream, cursor)).toThrow(
      'modified_after=1970-01-01T00:00:01.000000+00:00',
    );
  });
});
