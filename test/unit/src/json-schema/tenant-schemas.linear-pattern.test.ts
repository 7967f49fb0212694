import { describe, expect, it } from 'vitest';
import { linearTest } from '#json-schema/tenant-schemas.ts';
import { slowerThan } from '#test/support/judges/cpu-time.ts';

const outcome = (pattern: string, text: string): boolean | undefined => linearTest(pattern)?.(text);

describe('the linear test of a pattern', () => {
  it.each([
    String.raw`^\s$`,
    String.raw`^\S$`,
    String.raw`^[\s.]$`,
    String.raw`^[^\s]$`,
    String.raw`^[\S]$`,
    String.raw`^[^\S]$`,
    '^.$',
    '^[^]$',
    String.raw`^\w$`,
    String.raw`^\p{L}$`,
    String.raw`^\u00e9$`,
    String.raw`\bA`,
    'a$',
  ])('%s agrees with ECMAScript on every kind of character', (pattern) => {
    const points = Array.from({ length: 0x1_00_00 }, (_, point) => point).filter(
      (point) => point < 0xd8_00 || point > 0xdf_ff,
    );
    const texts = [...points, 0x1_f6_00].map((point) => String.fromCodePoint(point));

    const native = new RegExp(pattern, 'u');
    const test = linearTest(pattern);
    expect([...texts, 'a\n', ''].filter((text) => test?.(text) !== native.test(text))).toEqual([]);
  });

  it.each([
    ['a named group', '^(?<year>[0-9]{4})$', '2026', true],
    ['an escape that only the syntax without `u` has', String.raw`^\d\-\d$`, '1-2', true],
    ['braces that count nothing', '^a{,3}$', 'a{,3}', true],
  ])('knows %s', (_, pattern, text, expected) => {
    expect(outcome(pattern, text)).toBe(expected);
  });

  it.each([
    ['look-ahead', '(?=a)b'],
    ['negative look-behind', '(?<!a)b'],
    ['a back-reference', String.raw`(a)\1`],
    ['more than 1000 repetitions', '^a{1,2000}$'],
    ['syntax of RE2 alone', String.raw`\Aa\z`],
    ['a class of POSIX', '[[:alpha:]]'],
    ['no expression', '('],
  ])('does not know %s', (_, pattern) => {
    expect(linearTest(pattern)).toBeNull();
  });

  it('costs with a catastrophic pattern a few times what it costs with a harmless one', async () => {
    const text = `${'a'.repeat(32 * 1024)}!`;
    const [hostile, harmless] = ['^(a+)+$', '^a+$'].map((pattern) => linearTest(pattern));
    const slow = await slowerThan(
      5,
      () => hostile?.(text),
      () => harmless?.(text),
      { calls: 50 },
    );
    expect(slow).toBeNull();
    expect(outcome('^(a+)+$', text)).toBe(false);
    expect(outcome('^(a+)+$', 'a'.repeat(1024))).toBe(true);
  });
});
