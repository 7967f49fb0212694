import { describe, expect, it } from 'vitest';
import { consolePathOf } from '#modules/access/oidc/sign-in-state.ts';

describe('the way back from a sign-in', () => {
  it.each(['/console', '/console/env/dev/runs?state=failed', '/console/account/people'])(
    'is the page %s of the console',
    (path) => {
      expect(consolePathOf(path)).toBe(path);
    },
  );

  it.each([
    undefined,
    '',
    'console',
    'https://evil.example/console',
    '//evil.example/console',
    '/\\evil.example/console',
    '/\t/evil.example/console',
    '/console/..//evil.example',
    '/console/%2e%2e//evil.example',
    '/consoles',
    '/console@evil.example',
    '/console/oidc/callback?code=1',
    'javascript:alert(1)',
  ])('is the console itself in place of %s', (path) => {
    expect(consolePathOf(path)).toBe('/console');
  });
});
