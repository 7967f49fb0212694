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
  });
  expect(await source.reached()).toEqual([3, 9]);
  source.switchTo(reaching(4, 7));
  expect(await source.reached()).toEqual([3, 7]);
});
