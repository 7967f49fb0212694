import { describe, expect, it } from 'vitest';
import { tokenErrorOf } from '#modules/connections/credentials/modes/provider-error.ts';

describe('the words of a token endpoint', () => {
  it.each([
    [{ error: 'invalid_client', error_description: 'Wrong secret' }, 'Wrong secret'],
    [{ error: { code: 'x', message: 'Wrong secret' } }, 'Wrong secret'],
    [{ message: ' Wrong\n secret ' }, 'Wrong secret'],
    [{ ok: false, error: 'bad_client_secret' }, null],
  ])('%j are %s', (body, description) => {
    expect(tokenErrorOf(body, 'x', [])).toEqual({ code: 'x', description, uri: null });
  });

  it('do not repeat what was presented, however short', () => {
    const long = 'canary-secret-1';
    const told = tokenErrorOf({ error_description: `${long} is wrong` }, 'x', [long]);
    expect(told?.description).toBe('[removed] is wrong');
    const short = tokenErrorOf({ error_description: 'abc1 is wrong' }, 'x', ['abc1']);
    expect(short?.description).toBeNull();
  });

  it('are none where the response has none', () => {
    expect(tokenErrorOf({ ok: false }, null, [])).toBeNull();
  });
});
