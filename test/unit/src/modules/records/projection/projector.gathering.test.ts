import { describe, expect, it, vi } from 'vitest';
import { Gathering } from '#modules/records/projection/projector.ts';
import { RecordModel } from '#test/support/judges/record-model.ts';
import { TestProjection } from '#test/support/worlds/projection.ts';
import { idsOf, question, storeOfFile } from '#test/support/worlds/record-pages.ts';

const store = await storeOfFile();

describe('a batch of changes', () => {
  it.each([1, 400, 999])('of %i that come alone does not wait for more', (changes) => {
    expect(new Gathering().begin(1_000, changes)).toBe(false);
  });

  it('waits in a rush, and no longer once inserts are a while ago', () => {
    const gathering = new Gathering();
    gathering.inserting(1_000, 200);
    expect(gathering.begin(1_050, 199)).toBe(false);
    expect(gathering.begin(1_050, 200)).toBe(true);
    gathering.inserting(1_100, 200);
    expect(gathering.begin(1_249, 1)).toBe(true);
    expect(gathering.begin(1_250, 1)).toBe(false);
    expect(gathering.begin(1_350, 399)).toBe(false);
  });

  it('waits until nothing more has come for a while, or it has waited long', () => {
    const gathering = new Gathering();
    expect(gathering.begin(1_000, 1_000)).toBe(true);
    expect(gathering.isOver(1_099, 1_000, false)).toBe(false);
    expect(gathering.isOver(1_100, 1_000, false)).toBe(true);
    expect(gathering.isOver(1_100, 1_001, false)).toBe(false);
    expect(gathering.isOver(1_199, 1_001, false)).toBe(false);
    for (let at = 1_200; at < 1_500; at += 75) expect(gathering.isOver(at, at, false)).toBe(false);
    expect(gathering.isOver(1_499, 1_500, false)).toBe(false);
    expect(gathering.isOver(1_500, 1_501, false)).toBe(true);
  });

  it('waits longer for tables that are being filled', () => {
    const gathering = new Gathering();
    gathering.begin(1_000, 1_000);
    expect(gathering.isOver(2_999, 1_000, true)).toBe(false);
    expect(gathering.isOver(3_000, 1_000, true)).toBe(true);
    expect(gathering.isOver(1_500, 1_000, false)).toBe(true);
  });
});

describe('a rush of saves', () => {
  it('is inserted together, as soon as a caller waits for it', async () => {
    const model = new RecordModel();
    // No time passes: nothing but a caller ends the wait for more.
    const now = vi.spyOn(performance, 'now').mockReturnValue(performance.now());
    const inserted: number[] = [];
    const through = store.insert.bind(store);
    const insert = vi.spyOn(store, 'insert').mockImplementation(async (one) => {
      // Counted now: the projector reuses the buffer.
      if (one.table === 'records')
        inserted.push(Buffer.from(one.rows).toString().split('\n').length - 1);
      await through(one);
    });
    using _ = { [Symbol.dispose]: () => [insert, now].forEach((spy) => spy.mockRestore()) };
    await using projection = await TestProjection.open(store);
    const page = (at: number) => Array.from({ length: 150 }, (_row, n) => model.save(`${at}-${n}`));
    await projection.publish(model, page(0));
    await projection.publish(model, page(1));
    projection.append(model, page(2));
    projection.append(model, page(3));
    await projection.publish(model, page(4));
    expect(inserted).toEqual([150, 150, 450]);
    const { text } = await projection.source.slice(question(model, { limit: 1000 }));
    const found = JSON.parse(`[${Buffer.from(text).toString()}]`) as { id: string }[];
    expect(idsOf(found)).toEqual(idsOf(model.ordered()));
  });
});
