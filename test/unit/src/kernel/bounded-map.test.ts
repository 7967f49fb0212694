import { expect, it } from 'vitest';
import { BoundedMap } from '../../../../src/kernel/bounded-map.ts';

it('a full cache forgets its oldest entries', () => {
  const cache = new BoundedMap<number, string>(16);
  for (let key = 0; key < 16; key++) cache.set(key, `value ${key}`);
  cache.set(3, 'changed');
  expect(cache.size).toBe(16);
  cache.set(16, 'one more');
  expect([...cache.keys()]).toEqual([...Array.from({ length: 14 }, (_, at) => at + 2), 16]);
  expect(cache.get(3)).toBe('changed');
});
