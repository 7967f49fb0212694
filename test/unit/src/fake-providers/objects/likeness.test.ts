import { describe, expect, it } from 'vitest';
import { isLike } from '#fake-providers/objects/likeness.ts';
import type { Json } from '#kernel/stable-json.ts';

describe('a request', () => {
  it.each<[string, Json, Json, boolean]>([
    ['the same in another order', { a: 1, b: 'x' }, { b: 'x', a: 1 }, true],
    ['with another value', { a: 1 }, { a: 2 }, false],
    [
      'with any text',
      { url: '{text}/webhook/{text}?id=1' },
      { url: 'http://a/webhook/b?id=1' },
      true,
    ],
    ['with any text and another end', { url: '{text}?id=1' }, { url: 'http://a?id=2' }, false],
    ['with quotes in any text', { a: '{text}', b: 1 }, { a: 'x"y\\', b: 1 }, true],
    ['with a further field', { a: '{text}' }, { a: 'x', b: 'y' }, false],
    ['with a number for any text', { a: '{text}' }, { a: 1 }, false],
    ['with signs of patterns', { a: '{text}', b: '$(.*)[x]' }, { a: 'x', b: '$(.*)[x]' }, true],
    ['with other text for a pattern', { a: '{text}', b: '.*' }, { a: 'x', b: 'anything' }, false],
  ])('%s', (_what, fixture, request, expected) => {
    expect(isLike(fixture, request)).toBe(expected);
  });
});
