import { describe, expect, it, vi } from 'vitest';
import { seeded, seedOfRun } from '#test/support/judges/random.ts';
import { RecordModel } from '#test/support/judges/record-model.ts';
import { TestProjection } from '#test/support/worlds/projection.ts';
import { idsOf, pageOf, question, storeOfFile, walk } from '#test/support/worlds/record-pages.ts';

const seed = seedOfRun();
const store = await storeOfFile();

function watchQueries() {
  const query = vi.spyOn(store, 'queryBinary');
  return { query, [Symbol.dispose]: () => query.mockRestore() };
}

const saved = (model: RecordModel, count: number) =>
  Array.from({ length: count }, (_, id) => model.save(`r${id}`));

describe(`a page far before the end of its stream (seed ${seed})`, () => {
  it('takes one query that ends near its start', async () => {
    const model = new RecordModel();
    await using projection = await TestProjection.open(store);
    await projection.publish(model, saved(model, 20_000));
    await pageOf(projection.reader, question(model, { limit: 1 }));
    using watched = watchQueries();
    const page = await projection.source.slice(question(model, { limit: 100 }));
    expect([...page.positions]).toEqual(
      model
        .ordered()
        .slice(0, 100)
        .map(({ position }) => position),
    );
    expect(page.hasMore).toBe(true);
    expect(watched.query).toHaveBeenCalledTimes(1);
    expect(watched.query.mock.calls[0]?.[1]).toMatchObject({ until: 404 });
  });

  it('goes on over what was purged, of which it then knows', async () => {
    const model = new RecordModel();
    await using projection = await TestProjection.open(store);
    await projection.publish(model, saved(model, 20_000));
    await projection.publish(
      model,
      Array.from({ length: 17_000 }, (_, id) => model.purge(`r${id}`)),
    );
    const found = await walk(projection.reader, question(model, { limit: 1000 }));
    expect(idsOf(found)).toEqual(idsOf(model.ordered()));
    using watched = watchQueries();
    await projection.source.slice(question(model, { limit: 100 }));
    expect(watched.query).toHaveBeenCalledTimes(1);
    expect(watched.query.mock.calls[0]?.[1]).not.toHaveProperty('until');
  });

  it('leaves out no record, wherever some were purged', async () => {
    const random = seeded(seed);
    const model = new RecordModel();
    await using projection = await TestProjection.open(store);
    await projection.publish(model, saved(model, 3000));
    for (let hole = 0; hole < 12; hole++) {
      const from = random.int(3000);
      const ids = Array.from({ length: 1 + random.int(400) }, (_, at) => `r${from + at}`);
      const kept = ids.filter((id) => model.records.has(id));
      await projection.publish(
        model,
        kept.map((id) => model.purge(id)),
      );
    }
    for (const limit of [7, 40, 100]) {
      const found = await walk(projection.reader, question(model, { limit }));
      expect(idsOf(found)).toEqual(idsOf(model.ordered()));
    }
  });
});
