import { describe, expect, it } from 'vitest';
import { sessionCookies } from '#modules/connections/credentials/modes/two-step.ts';

const api = 'https://crm.example/api/v2';
const login = (...setCookies: string[]) => ({ setCookies, url: 'https://crm.example/api/login' });

describe('the cookies of a session', () => {
  it.each([
    ['a later value', ['sid=a; Path=/', 'sid=b; Path=/'], 'sid=b'],
    [
      'a cookie that is taken back',
      ['sid=a; Path=/', 'x=1; Path=/', 'sid=; Max-Age=0; Path=/'],
      'x=1',
    ],
    [
      'a cookie that has ended',
      ['sid=a; Path=/', 'sid=x; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Path=/'],
      null,
    ],
    ['a comma in a value', ['sid=a,b=c; Path=/', 'x=1; Path=/'], 'sid=a,b=c; x=1'],
    ['a comma in a date', ['sid=a; Expires=Wed, 21 Oct 2099 07:28:00 GMT; Path=/'], 'sid=a'],
    ['an equals sign in a value', ['sid=a==; Path=/; HttpOnly; Secure; SameSite=None'], 'sid=a=='],
    ['a path of another part', ['refresh=r; Path=/auth', 'sid=a; Path=/api'], 'sid=a'],
    ['a path of its own', ['sid=a'], 'sid=a'],
    ['a domain of another host', ['sid=a; Domain=other.example', 'x=1'], 'x=1'],
    ['no cookie', [], null],
    ['what is no cookie', ['', ';', 'x=1'], 'x=1'],
  ])('with %s', (_, setCookies, expected) => {
    expect(sessionCookies([login(...setCookies)], api, null)).toBe(expected);
  });

  it('are those of every step, and go to another host only with its domain or without one', () => {
    const steps = [login('a=1; Path=/', 'b=1; Path=/'), login('b=2; Path=/; Domain=crm.example')];
    expect(sessionCookies(steps, 'https://eu.crm.example/', null)?.split('; ').sort()).toEqual([
      'a=1',
      'b=2',
    ]);
    expect(sessionCookies(steps.slice(1), 'https://unrelated.example/', null)).toBeNull();
  });

  it('stay after a renewal that does not set them', () => {
    expect(sessionCookies([login()], api, 'sid=a; x=1')).toBe('sid=a; x=1');
    expect(sessionCookies([login('sid=b')], api, 'sid=a; x=1')).toBe('x=1; sid=b');
    expect(sessionCookies([login('sid=; Max-Age=0')], api, 'sid=a; x=1')).toBe('x=1');
  });
});
