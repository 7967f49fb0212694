import { expect, it } from 'vitest';
import { createActiveSource } from '#modules/records/projection/generations.ts';
import type { TableSource } from '#modules/records/read/reader.ts';

const unused = () => Promise.reject(new Error('not used here'));

const reaching = (...next: number[]): TableSource => ({
  slice: unused,
  newest: unused,
  positionOf: unused,
  counts: unused,
  published: unused,
  reached: () => Promise.resolve(next),
  onDropped: () => undefined,
});

it('shows of two generations only what both can answer while another node may read the former', async () => {
  const source = createActiveSource(reaching(3, 9), {
    log: { endOffset: unused },
    partitions: 2,
    isReadElsewhere: true,
  });
  expect(await source.reached()).toEqual([3, 9]);
  source.switchTo(reaching(4, 7));
  expect(await source.reached()).toEqual([3, 7]);
});

it('ends a wait for a generation that is never filled when another one is switched to', async () => {
  const first: TableSource = {
    ...reaching(0),
    published: (_partition, _offset, signal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      }),
  };
  const source = createActiveSource(first, {
    log: { endOffset: unused },
    partitions: 1,
    isReadElsewhere: false,
  });
  const shown = source.published(0, 5, new AbortController().signal);
  const caller = new AbortController();
  const ended = source.published(0, 5, caller.signal);
  caller.abort(new Error('the caller is gone'));
  await expect(ended).rejects.toThrow('the caller is gone');
  source.switchTo({ ...reaching(5), published: () => Promise.resolve() });
  await shown;
});
