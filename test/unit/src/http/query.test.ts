import { describe, expect, it } from 'vitest';
import { parseQuery } from '#http/query.ts';

const plain = (text: string) => JSON.parse(JSON.stringify(parseQuery(text))) as unknown;

describe('a query', () => {
  it.each([
    ['', {}],
    ['a=1', { a: '1' }],
    ['a', { a: '' }],
    ['a=1&b=2&', { a: '1', b: '2' }],
    ['a=1&a=2', { a: ['1', '2'] }],
    ['a[]=1', { a: ['1'] }],
    ['a[]=1&a=2', { a: ['1', '2'] }],
    ['a%5B%5D=1&a%5B%5D=2', { a: ['1', '2'] }],
    ['t[k]=v&t[l]=w', { t: { k: 'v', l: 'w' } }],
    ['a=x+y%2B%C3%A9', { a: 'x y+é' }],
    ['a=b=c', { a: 'b=c' }],
  ])('%s is %j', (text, expected) => {
    expect(plain(text)).toEqual(expected);
  });

  it.each([
    'a=1&a[k]=2',
    'a[k]=1&a=2',
    'a[k]=1&a[k]=2',
    'a[k][l]=1',
    '[]=1',
    '=1',
    'a]=1',
    'a=%ff',
    'a=%',
  ])('%s is refused', (text) => {
    expect(() => parseQuery(text)).toThrow(
      expect.objectContaining({ code: 'invalid_query_params' }) as Error,
    );
  });

  it('takes names of the prototype as data', () => {
    const query = parseQuery('__proto__=1&constructor=2&t[__proto__]=3');
    expect(Object.entries(query).map(([name]) => name)).toEqual(['__proto__', 'constructor', 't']);
    expect(({} as { polluted?: string }).polluted).toBeUndefined();
    expect(Object.keys(query['t'] ?? {})).toEqual(['__proto__']);
  });
});
