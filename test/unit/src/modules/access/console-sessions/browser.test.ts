import { describe, expect, it } from 'vitest';
import { browserSummary } from '#modules/access/console-sessions/browser.ts';

const mozilla = 'Mozilla/5.0';
const webKit = 'AppleWebKit/537.36 (KHTML, like Gecko)';

describe('what a session shows of its browser', () => {
  it.each([
    [`${mozilla} (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0`, 'Firefox on Linux'],
    [
      `${mozilla} (Windows NT 10.0; Win64) ${webKit} Chrome/140.0 Safari/537.36`,
      'Chrome on Windows',
    ],
    [
      `${mozilla} (Windows NT 10.0) ${webKit} Chrome/140.0 Safari/537.36 Edg/140.0`,
      'Edge on Windows',
    ],
    [
      `${mozilla} (Macintosh; Intel Mac OS X 14_0) ${webKit} Version/18 Safari/605`,
      'Safari on macOS',
    ],
    [
      `${mozilla} (iPhone; CPU iPhone OS 18_0 like Mac OS X) ${webKit} Version/18 Safari/604`,
      'Safari on iPhone',
    ],
    [
      `${mozilla} (Linux; Android 15) ${webKit} Chrome/140.0 Mobile Safari/537.36`,
      'Chrome on Android',
    ],
    ['curl/8.9', null],
    [undefined, null],
  ])('is by %s: %s', (userAgent, name) => {
    expect(browserSummary(userAgent, '203.0.113.9')).toEqual({ name, ipPrefix: '203.0.113.0/24' });
  });
});
