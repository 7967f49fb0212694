import { describe, expect, it } from 'vitest';
import { mayLoseDigits, parseExactJson, parseRawJson } from '#kernel/exact-json.ts';

const big = '9007199254740993';

describe('integers beyond 2^53 − 1', () => {
  it.each([
    big,
    `-${big}`,
    ` ${big}`,
    `[${big}]`,
    `[1,${big}]`,
    `{"a":${big}}`,
    `{"a": -${big}}`,
    `{"a":\n\t${big}}`,
    '9007199254740992',
    '123456789012345678901234567890',
  ])('keep their digits: %j', (json) => {
    expect(mayLoseDigits(json)).toBe(true);
    expect(JSON.stringify(parseRawJson(json))).toBe(json.replaceAll(/\s/g, ''));
    expect(JSON.stringify(parseExactJson(json)).replaceAll('"', '')).toBe(
      json.replaceAll(/[\s"]/g, ''),
    );
  });

  it.each([
    '9007199254740991',
    '1.5',
    '1e30',
    '0.1234567890123456789',
    `"${big}"`,
    `{"${big}":"${big}"}`,
  ])('leave other values as they are: %s', (json) => {
    expect(parseRawJson(json)).toEqual(JSON.parse(json));
    expect(parseExactJson(json)).toEqual(JSON.parse(json));
  });

  it('leave deep JSON readable, and a field named __proto__ a field', () => {
    const deep = `${'['.repeat(100_000)}${big}${']'.repeat(100_000)}`;
    expect(Array.isArray(parseRawJson(deep))).toBe(true);
    const own = parseExactJson(`{"__proto__":{"a":${big}}}`) as object;
    expect(Object.getOwnPropertyNames(own)).toEqual(['__proto__']);
  });
});
