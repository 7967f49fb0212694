import { describe, expect, it } from 'vitest';
import { Mask } from '#kernel/mask.ts';
import { slowerThan } from '#test/support/judges/cpu-time.ts';

const secret = 'pa55/wörd+ & "quoted"';
const maskOf = (...values: string[]): Mask => {
  const mask = new Mask();
  for (const value of values) mask.add(value);
  return mask;
};

describe('a mask', () => {
  const basic = (user: string) => Buffer.from(`${user}:${secret}`).toString('base64');

  it.each([
    ['in clear', secret],
    ['in a URL', encodeURIComponent(secret)],
    ['in a URL with small letters', encodeURIComponent(secret).toLowerCase()],
    ['in a path', encodeURI(secret)],
    ['in a form', new URLSearchParams({ a: secret }).toString().slice(2)],
    ['in JSON', JSON.stringify(secret).slice(1, -1)],
    ['in base64', Buffer.from(secret).toString('base64')],
    ['in base64url', Buffer.from(secret).toString('base64url')],
    ['in base64 after one byte', basic('')],
    ['in base64 after two bytes', basic('u')],
    ['in base64 after three bytes', basic('us')],
  ])('takes out a secret %s', (_how, written) => {
    const masked = maskOf(secret).text(`before ${written} after`);
    expect(masked).toMatch(/^before \w{0,4}\[removed\]\w?=* after$/);
  });

  it('takes out what overlaps, each line of a key, and leaves the rest', () => {
    const mask = maskOf('abcdefgh', 'efghijkl', '-----BEGIN-----\nMIIEvQIBADAN\nBgkqhkiG9w0B');
    expect(mask.text('1abcdefghijkl2 efghijkl3')).toBe('1[removed]2 [removed]3');
    expect(mask.text('abcdefg')).toBe('abcdefg');
    expect(mask.text('at BgkqhkiG9w0B of it')).toBe('at [removed] of it');
    mask.add('shorter');
    expect(mask.text('shorter')).toBe('shorter');
    mask.add('later on');
    expect(mask.text('later on abcdefgh')).toBe('[removed] [removed]');
  });

  it('takes a secret out of data, however deep, names included', () => {
    const mask = maskOf(secret);
    let deep: object = { text: `a "${secret}"` };
    for (let depth = 0; depth < 3000; depth++) deep = { deep };
    const text = JSON.stringify(mask.data({ [secret]: 1, deep, list: [null, 2, 'plain', secret] }));
    expect(text).not.toContain('wörd');
    expect(JSON.parse(text)).toMatchObject({
      '[removed]': 1,
      list: [null, 2, 'plain', '[removed]'],
    });
  });

  it('needs no more time for its worst text than for harmless text of that length', async () => {
    const worst = 'a'.repeat(32_768);
    const harmless = 'b'.repeat(32_768);
    const mask = maskOf(
      `${'a'.repeat(8_000)}b`,
      `${'a'.repeat(4_000)}c`,
      `${'aa%2F'.repeat(800)}!`,
    );
    const read = (text: string) => () => mask.text(text);
    expect(await slowerThan(5, read(worst), read(harmless), { calls: 200 })).toBeNull();
    expect(mask.text(`${worst}b`)).toMatch(/^a+\[removed\]$/);
  });
});
