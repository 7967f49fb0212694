import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { beforeAll, expect, it } from 'vitest';
import { trimWhenQuiet } from '../../../../../src/app/threads/trim-memory.ts';

type Collect = NonNullable<typeof globalThis.gc>;
let collect: Collect;

beforeAll(() => {
  setFlagsFromString('--expose-gc');
  collect = runInNewContext('gc') as Collect;
});

/** A trimming whose collections are counted, and quick. */
function watched() {
  const collections = { count: 0, next: Promise.withResolvers<undefined>() };
  const gc = (() => {
    collections.count += 1;
    collect({ type: 'minor', execution: 'sync' });
    collections.next.resolve(undefined);
    collections.next = Promise.withResolvers();
  }) as Collect;
  return { collections, trimming: trimWhenQuiet({ gc, quietMs: 20 }) };
}

it('returns memory after a rush, and again after the next one', async () => {
  const { collections, trimming } = watched();
  using _ = trimming;
  await collections.next.promise;
  // What V8 collects by itself is a rush.
  collect({ type: 'minor', execution: 'sync' });
  await collections.next.promise;
});

it('leaves memory alone after it was closed, and without the flag of Node', async () => {
  const closed = watched();
  closed.trimming[Symbol.dispose]();
  using withoutFlag = trimWhenQuiet({ gc: undefined, quietMs: 0 });
  const other = watched();
  using _ = other.trimming;
  await other.collections.next.promise;
  expect(closed.collections.count).toBe(0);
  expect(withoutFlag).toBeDefined();
});
