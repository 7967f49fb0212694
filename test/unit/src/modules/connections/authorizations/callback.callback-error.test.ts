import { describe, expect, it } from 'vitest';
import { limits } from '#kernel/limits.ts';
import { Mask } from '#kernel/mask.ts';
import { callbackErrorIn } from '#modules/connections/authorizations/callback.ts';
import { providerErrorText } from '#modules/connections/credentials/modes/provider-error.ts';

const maskOf = (...secrets: readonly string[]): Mask => {
  const mask = new Mask();
  for (const secret of secrets) mask.add(secret);
  return mask;
};

describe('the error in a callback', () => {
  it('is absent where the callback has none', () => {
    expect(callbackErrorIn({ code: 'c', state: 's' }, maskOf())).toBeNull();
    expect(callbackErrorIn({ error: '', error_description: ' ' }, maskOf())).toBeNull();
  });

  it('of 100 KB is cut, and its secrets are removed before', () => {
    const secret = 'canary-secret-1';
    const description = `${'<b>\u202E'.repeat(60)}${secret} ${'x'.repeat(100_000)}`;
    const found = callbackErrorIn({ error_description: description }, maskOf(secret));
    expect(found?.description).toHaveLength(limits.providerErrorCharsMax);
    expect(found?.description).not.toMatch(/\u202e|canary/);
  });

  it('keeps a code with every character of RFC 6749, and no other', () => {
    const all = " !#$%&'()*+,-./09:;<=>?@AZ[]^_`az{|}~";
    expect(callbackErrorIn({ error: `x${all}` }, maskOf())?.code).toBe(`x${all}`);
    for (const character of ['"', '\\', '\n', '\u007f', 'é']) {
      expect(callbackErrorIn({ error: `x${character}x` }, maskOf())).toMatchObject({ code: null });
    }
  });

  it.each([
    [{ error: 'a' }, 'answered a.'],
    [{ error: 'a', error_description: 'No.' }, 'answered a: No.'],
    [{ error_description: 'No' }, 'answered with an error: No.'],
    [{ error: 'a', error_uri: 'https://b.example/c' }, 'answered a (https://b.example/c).'],
  ])('%j ends a sentence', (texts, expected) => {
    const found = callbackErrorIn(texts, maskOf());
    expect(found && providerErrorText(found)).toBe(expected);
  });
});
