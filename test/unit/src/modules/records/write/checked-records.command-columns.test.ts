import { describe, expect, it } from 'vitest';
import { checkRecords, commandColumns } from '#modules/records/write/checked-records.ts';

const records = (count: number, chars: number) =>
  Array.from({ length: count }, (_, index) => ({ id: `r-${index}`, note: 'ü'.repeat(chars) }));

/** What each command would carry, taken as soon as it is packed. */
function commandsOf(given: ReturnType<typeof records>, isSealed = false) {
  const checked = checkRecords(given, 'Contact', 'whole');
  const seal = (payloads: Uint8Array) => Buffer.from(payloads).reverse();
  return [...commandColumns(checked, isSealed ? seal : null)].map(({ ids }) => ids.length);
}

function payloadsOf(given: ReturnType<typeof records>): unknown[] {
  const all: unknown[] = [];
  const checked = checkRecords(given, 'Contact', 'whole');
  for (const { ends, payloads } of commandColumns(checked, null)) {
    const text = Buffer.from(payloads);
    ends.forEach((end, at) => {
      all.push(JSON.parse(text.toString('utf8', ends[at - 1] ?? 0, end)));
    });
  }
  return all;
}

describe('the records of one call', () => {
  it('are split at 1000 records and at 1 MB of UTF-8', () => {
    expect(commandsOf(records(2_001, 1))).toEqual([1_000, 1_000, 1]);
    expect(commandsOf(records(5, 240_000))).toEqual([2, 2, 1]);
    expect(commandsOf(records(5, 240_000), true)).toEqual([2, 2, 1]);
  });

  it('are all in the commands, whole and in order, when each is taken before the next is packed', () => {
    for (const given of [records(2_001, 3), records(5, 240_000)]) {
      expect(payloadsOf(given)).toEqual(given);
    }
  });
});
