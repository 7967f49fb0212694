import { describe, expect, it } from 'vitest';
import { attempt, corruptionFrom } from '#adapters/projection-store/engine-errors.ts';
import { damagedPartOf, type DamagedPart } from '#ports/projection-store.ts';

const thrown = (code: string, message: string): Error =>
  Object.assign(new Error(message), { code });

/** As the engine of 26.7 writes them. */
const place =
  '(while reading column record_id): (while reading from part /data/clickhouse/store/04a/04a5c931-fe37-4828-b90a-2b0742a0cbfe/1_2_2_1/ in table default.records (04a5c931-fe37-4828-b90a-2b0742a0cbfe) located on disk default of type local, from mark 2 with max_rows_to_read = 512, offset = 0): While executing MergeTreeSelect(pool: ReadPool). ';
const part = { table: 'records', part: '1_2_2_1' };

describe('an error of the engine', () => {
  it.each<[string, Error, DamagedPart | null]>([
    [
      'about a checksum names the part',
      thrown(
        '40',
        `Checksum doesn't match: corrupted data. Reference: 2f. Actual: 7a. Size of compressed block: 76. ${place}`,
      ),
      { ...part, reason: "Checksum doesn't match: corrupted data" },
    ],
    [
      'about an impossible size of a compressed block',
      thrown(
        '39',
        `Too large size_compressed_without_checksum: 2147483667. Most likely corrupted data: While reading or decompressing /data/x/data.bin (position: 188): ${place}`,
      ),
      { ...part, reason: 'Too large size_compressed_without_checksum: 2147483667' },
    ],
    [
      'about an impossible size in a part',
      thrown('49', `Too large size (14454053657111900923) passed to allocator. ${place}`),
      { ...part, reason: 'Too large size' },
    ],
    [
      'about a file that is gone',
      thrown('107', `File /data/x/data.bin doesn't exist: ${place}`),
      { ...part, reason: "File /data/x/data.bin doesn't exist" },
    ],
    [
      'about a checksum of an index names no part',
      thrown('40', "Checksum doesn't match: corrupted data. Reference: 2f."),
      { table: '', part: '', reason: "Checksum doesn't match: corrupted data" },
    ],
    ['about memory is no damage', thrown('241', `Memory limit exceeded: ${place}`), null],
    ['about rows that are inserted is no damage', thrown('33', 'Cannot read all data.'), null],
    ['of the connection is no damage', thrown('ECONNREFUSED', 'connect ECONNREFUSED'), null],
  ])('%s', (_, error, damaged) => {
    expect(corruptionFrom(error)).toEqual(damaged);
  });

  it('about a damaged part becomes projection_damaged, and is reported', async () => {
    const reported: DamagedPart[] = [];
    const failed = attempt(
      () => Promise.reject(thrown('40', `Checksum doesn't match: corrupted data. ${place}`)),
      (damaged) => reported.push(damaged),
    );
    const error: unknown = await failed.catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: 'projection_damaged', status: 503 });
    expect(damagedPartOf(error)).toEqual(reported[0]);
    expect(reported).toEqual([expect.objectContaining(part)]);
  });
});
