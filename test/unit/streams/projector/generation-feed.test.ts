import { describe, expect, it } from 'vitest';
import type { TableSet } from '#streams/projector/define.ts';
import {
  GenerationFeed,
  type FeedOptions,
  type SourceContext,
  type TableFeed,
} from '#streams/projector/generation-feed.ts';
import { createPublication } from '#streams/projector/publication.ts';

const tableSet = (generation: number): TableSet => ({
  generation,
  name: 'records',
  tables: ['records'],
  migrations: [],
  views: [],
  replacing: [],
});
const reach = {
  ...createPublication(),
  refresh: () => Promise.resolve(),
  [Symbol.asyncDispose]: () => Promise.resolve(),
};
const started: TableFeed = {
  holds: () => true,
  readable: () => Promise.resolve(),
  stopped: Promise.withResolvers<undefined>().promise,
  [Symbol.asyncDispose]: () => Promise.resolve(),
};

describe('the tables of a generation', () => {
  it('are read until a start empties them, and again once they are fed', async () => {
    const starts: {
      readonly options: FeedOptions;
      readonly feed: PromiseWithResolvers<TableFeed>;
    }[] = [];
    const generation = new GenerationFeed<SourceContext<TableSet>>(
      {
        tableSet,
        partitions: 1,
        openReach: () => reach,
        openFeed(options) {
          const feed = Promise.withResolvers<TableFeed>();
          starts.push({ options, feed });
          return feed.promise;
        },
        openSource: (context) => context,
        failed: () => undefined,
      },
      1,
    );
    await using _ = generation;
    const read = () => generation.source.beforeReading(0);
    const refusal = { code: 'projection_unavailable' };

    const failing = generation.start();
    await read();
    starts[0]!.options.emptying();
    await expect(read()).rejects.toMatchObject(refusal);
    starts[0]!.feed.reject(new Error('the tables are away'));
    await expect(failing).rejects.toThrow('away');
    // They are left as the failed start left them.
    await expect(read()).rejects.toMatchObject(refusal);

    const starting = generation.start();
    starts[1]!.feed.resolve(started);
    await starting;
    await read();
  });
});
