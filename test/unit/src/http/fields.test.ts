import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import * as fields from '#http/fields.ts';

const accepts = (schema: z.ZodType, value: unknown) => schema.safeParse(value).success;

describe('shared fields', () => {
  it.each([
    ['TRUE', true],
    ['1', true],
    ['yes', true],
    ['On', true],
    ['y', true],
    ['enabled', true],
    ['false', false],
    ['0', false],
    ['NO', false],
    ['off', false],
    ['n', false],
    ['disabled', false],
  ])('flag %s is %s', (text, expected) => {
    expect(fields.flag.parse(text)).toBe(expected);
  });

  it.each(['', 'maybe', '2', 'true '])('flag %j is refused', (value) => {
    expect(accepts(fields.flag, value)).toBe(false);
  });

  it.each([
    ['integrationKey', 'a~:.@ _-Z9', true],
    ['integrationKey', 'a/b', false],
    ['integrationKey', '', false],
    ['connectionId', `a,.;:=+~[]|@\${}"'\\/_ -`, true],
    ['connectionId', 'a\0b', false],
    ['connectionId', 'é', false],
    ['connectionId', 'x'.repeat(256), false],
    ['modelName', 'Contact', true],
    ['modelName', 'contact', false],
    ['environmentName', 'dev-1', true],
    ['environmentName', 'Dev', false],
    ['displayName', 'a\ud800', false],
    ['displayName', 'Zoë 🙂', true],
    ['webhookUrl', '', true],
    ['webhookUrl', 'https://app.example/hook', true],
    ['webhookUrl', 'javascript:alert(1)', false],
    ['jsonObject', [], false],
    ['jsonObject', { a: 1 }, true],
  ] as const)('%s %j: %s', (name, value, expected) => {
    expect(accepts(fields[name], value)).toBe(expected);
  });

  it('whole numbers are whole and within their range', () => {
    const limit = fields.wholeNumber(1, 100);
    expect(limit.parse('100')).toBe(100);
    for (const value of ['0', '101', '1.5', '1e1', ' 1', '', 'NaN', '0x10']) {
      expect(accepts(limit, value)).toBe(false);
    }
  });

  it('lists take a single value, too', () => {
    const list = fields.listOf(fields.functionName);
    expect(list.parse('a')).toEqual(['a']);
    expect(list.parse(['a', 'b'])).toEqual(['a', 'b']);
    expect(accepts(list, { a: 'b' })).toBe(false);
  });

  it('tags come out in lower case', () => {
    expect(fields.tags.parse({ Team: 'Blue' })).toEqual({ team: 'Blue' });
    for (const wrong of [
      { Team: 'a', team: 'b' },
      { '1st': 'a' },
      { a: '' },
      { end_user_email: 'nobody' },
      Object.fromEntries(Array.from({ length: 11 }, (_, n) => [`t${n}`, 'x'])),
    ]) {
      expect(accepts(fields.tags, wrong)).toBe(false);
    }
  });

  it('a map with a key __proto__ is refused with its name, not emptied', () => {
    const sent: unknown = JSON.parse('{"team":"blue","__proto__":"x"}');
    for (const map of [fields.tags, fields.mapOf(fields.text(1, 255), fields.text(0, 8192))]) {
      expect(map.safeParse(sent).error?.issues).toMatchObject([
        { message: 'The key "__proto__" is not allowed.', path: ['__proto__'] },
      ]);
    }
    expect(fields.tags.parse({ constructor: 'x' })).toEqual({ constructor: 'x' });
  });
});
