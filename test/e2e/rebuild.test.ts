import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { askChild, startChild } from '../support/child.ts';
import type { ToldAgain, ToldEmptied } from '../support/emptied-child.ts';
import type { ToldPage } from '../support/node-child.ts';
import type { ReadRecord } from '../support/projection.ts';
import { seedOfRun } from '../support/random.ts';
import type { ToldRound, ToldStream } from '../support/rebuild-child.ts';

const seed = seedOfRun();
console.log(`rebuild test: SVC_TEST_SEED=${seed}`);

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-rebuild-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Everything but the log and the root key. */
const derived = ['clickhouse', 'state', 'views'] as const;

async function remove(parts: readonly string[]): Promise<void> {
  for (const part of parts) await rm(join(folder, part), { recursive: true });
}

const child = './rebuild-child.ts';
const round = (number: number, calls: number, mode = 'whole') =>
  askChild<ToldRound>(child, folder, [folder, seed, number, calls, mode]);

describe('a node of which all but the log is deleted', () => {
  it('gives the same pages and cursors, and goes on counting', async () => {
    let before = await round(1, 300);
    console.log(`${figures(before.left)} on the first start`);
    for (const [at, parts] of [['clickhouse'], ['state'], derived].entries()) {
      await remove(parts);
      const after = await round(at + 2, 15);
      expectSame(after, before);
      expectMore(after);
      before = after;
    }
    console.log(`${figures(before.left)} in the end`);
  });

  it('gives them too from a log that was compacted', async () => {
    const before = await round(1, 100, 'compacted');
    await remove(derived);
    const after = await round(2, 15);
    console.log(`${figures(before.left)} in the compacted log`);
    expectSame(after, before);
  });

  it.each(['projector:after-insert', 'projector:after-position'])(
    'gives them too after it was killed while it rebuilt, at %s',
    async (point) => {
      const before = await round(1, 40);
      await remove(derived);
      const env = { SVC_TEST_FAULT_POINT: point };
      const killed = startChild(child, [folder, seed, 2, 0], env);
      killed.process.stdout.resume();
      expect(await killed.ended, killed.errors.join('\n')).toBe('SIGKILL');
      const after = await round(3, 5);
      expectSame(after, before);
      expectMore(after);
    },
  );
});

function figures(streams: readonly ToldStream[]): string {
  const sum = (of: (stream: ToldStream) => number) => streams.map(of).reduce((a, b) => a + b);
  return `${sum(({ seqs }) => seqs.length)} changes, ${sum(({ pages }) => pages.length)} pages`;
}

/** Byte for byte, the cursors too; an old cursor goes on as it did, and so does an open delete pass. */
function expectSame({ found, deletedKeys }: ToldRound, { left, unmarked }: ToldRound): void {
  for (const [at, { continued, ...stream }] of found.entries()) {
    const { continued: _, ...before } = left[at]!;
    expect(stream).toEqual(before);
    expect(continued?.pages).toEqual(before.pages.slice(continued?.from));
  }
  expect([...deletedKeys].sort()).toEqual([...unmarked].sort());
}

/** More changes of the same generation, `stream_seq` without a hole. */
function expectMore({ found, left }: ToldRound): void {
  for (const [at, { seqs, eventIds, generations }] of left.entries()) {
    expect(seqs.length).toBeGreaterThan(found[at]!.seqs.length);
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
    expect(new Set(eventIds).size).toBe(eventIds.length);
    expect(generations).toHaveLength(1);
  }
}

describe('a stream that was emptied, its tombstones compacted, and is written again', () => {
  it.each([
    { deleted: 'nothing', parts: [] },
    { deleted: 'all stores', parts: derived },
  ])('goes on counting, and old cursors go on, with $deleted deleted', async ({ parts }) => {
    const writer = './emptied-child.ts';
    const emptied = await askChild<ToldEmptied>(writer, folder, ['empty', folder]);
    expect(emptied.messages).toBe(0);
    await remove(parts);
    const again = await askChild<ToldAgain>(writer, folder, ['again', folder, ...emptied.cursors]);

    const { seq, generation, lastModifiedAt } = emptied;
    expect(again.changes).toMatchObject([
      { id: 'r3', seq: seq + 1, action: 'added', generation },
      { id: 'r100', seq: seq + 2, action: 'added', generation },
      { id: 'r101', seq: seq + 3, action: 'added', generation },
      { id: 'r100', seq: seq + 4, action: 'updated', generation },
    ]);
    expect(Math.min(...again.changes.map((one) => one.modifiedAt))).toBeGreaterThan(lastModifiedAt);
    for (const { before, singles, whole } of again.continuations) {
      expect(before).toEqual({ body: '{"records":[],"next_cursor":null}', next: null });
      const records = recordsIn(whole);
      expect(records.map(({ id }) => id)).toEqual(['r3', 'r101', 'r100']);
      expect(singles.flatMap(recordsIn)).toEqual(records);
      expect(records.map((record) => record._svc_metadata.last_action)).toEqual([
        'ADDED',
        'ADDED',
        'UPDATED',
      ]);
    }
  });
});

function recordsIn({ body }: ToldPage): ReadRecord[] {
  return (JSON.parse(body) as { records: ReadRecord[] }).records;
}
