import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { roundsOf } from '#test/support/judges/long-run.ts';
import { openLoadedGateways, type LoadedGateways } from '#test/support/processes/loaded-gateway.ts';
import type { ReadRecord } from '#test/support/worlds/projection.ts';

let gateways: LoadedGateways;
beforeAll(async () => {
  gateways = await openLoadedGateways();
});
afterAll(() => gateways[Symbol.asyncDispose]());

const records = roundsOf({ push: 600, all: 50_000 });
/** Between two polls of a reader that found nothing. */
const pollPauseMs = roundsOf({ push: 150, all: 50 });

describe(`${records} records that are written and read meanwhile`, () => {
  const models = ['Contact', 'Deal', 'Note', 'Task'] as const;

  async function page(url: string, model: string, cursor: string | null, limit: number) {
    const query = new URLSearchParams({ model, limit: String(limit) });
    if (cursor !== null) query.set('cursor', cursor);
    const { headers } = gateways;
    for (;;) {
      const answer = await fetch(`${url}/records?${query.toString()}`, { headers });
      const text = await answer.text();
      // On a busy machine the projector may be more than 5 s behind the log: readers are asked to come back.
      if (answer.status === 503) {
        await sleep(Number(answer.headers.get('retry-after')) * 1000);
        continue;
      }
      if (answer.status !== 200) throw new Error(`answered ${answer.status}: ${text}`);
      return JSON.parse(text) as { records: ReadRecord[]; next_cursor: string | null };
    }
  }

  /** Follows one cursor until writing has stopped, and every change is read. */
  async function read(url: string, model: string, isWritten: () => boolean) {
    const seen = new Map<string, ReadRecord>();
    const cursors = new Set<string>();
    let repeated = 0;
    let pages = 0;
    for (let cursor: string | null = null; ;) {
      const isLast = isWritten();
      const found = await page(url, model, cursor, 1000);
      pages += 1;
      for (const record of found.records) {
        const { cursor: at } = record._svc_metadata;
        if (cursors.has(at)) repeated += 1;
        cursors.add(at);
        seen.set(record.id, record);
      }
      cursor = found.records.at(-1)?._svc_metadata.cursor ?? cursor;
      if (found.records.length > 0) continue;
      if (isLast) return { seen, repeated, pages };
      await sleep(pollPauseMs);
    }
  }

  async function whole(url: string, model: string): Promise<ReadRecord[]> {
    const all: ReadRecord[] = [];
    for (let cursor: string | null = null; ;) {
      const found = await page(url, model, cursor, 5000);
      all.push(...found.records);
      cursor = found.next_cursor;
      if (cursor === null) return all;
    }
  }

  /** What a reader saw last of each record is what there is. */
  async function expectComplete(url: string, model: string, seen: Map<string, ReadRecord>) {
    const all = await whole(url, model);
    const ids = all.map(({ id }) => id);
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
    expect(ids.filter((id) => !seen.has(id))).toEqual([]);
    expect(all.length).toBe(seen.size);
    expect(all.filter((one) => JSON.stringify(seen.get(one.id)) !== JSON.stringify(one))).toEqual(
      [],
    );
  }

  it('are rebuilt from the command line; readers miss nothing and see nothing twice', async () => {
    const gateway = await gateways.start(records);
    let isWritten = false;
    const readers = models.map((model) => read(gateway.url, model, () => isWritten));
    // Awaited in the end: one that fails before is not without a handler.
    for (const reader of readers) reader.catch(() => undefined);
    const built = await gateway.svc('rebuild', 'records', '--yes', '--switch');
    console.log(built.err);
    expect(built.exitCode, built.err).toBe(0);
    expect(built.err).toContain('No difference');
    expect(built.err).toMatch(/building {2}\d+ %/);
    expect(built.out).toMatch(/records +2 +active/);
    const listed = await gateway.svc('list');
    expect(listed.out).toMatch(/records +1 +kept/);
    await gateway.stopWriting();
    isWritten = true;
    for (const [at, model] of models.entries()) {
      const { seen, repeated, pages } = await readers[at]!;
      expect(repeated).toBe(0);
      await expectComplete(gateway.url, model, seen);
      console.log(`${model}: ${pages} pages, ${seen.size} records`);
    }
    const back = await gateway.svc('rollback', 'records', '--yes', '--json');
    expect(JSON.parse(back.out)).toMatchObject({ active_generation: 1 });
    const refused = await gateway.svc('rebuild', 'records', '--yes');
    expect(refused.exitCode, refused.err).toBe(4);
    await gateway.end();
  });
});
