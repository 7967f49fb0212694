import { describe, expect, it } from 'vitest';
import { isRetriedStatus, retryWaitMs } from '#modules/functions/runs/runtime/retry.ts';
import type { HttpReply } from '#ports/http-client.ts';

const now = Date.UTC(2026, 0, 1);
const reply = (headers: Record<string, string>, body = ''): HttpReply => ({
  status: 429,
  statusText: '',
  headers,
  body: Buffer.from(body),
  url: 'https://a.test/',
});

describe('what is asked for again', () => {
  it.each([
    [401, true],
    [429, true],
    [500, true],
    [599, true],
    [400, false],
    [403, false],
    [404, false],
    [408, false],
  ])(
    '§5.5 401, 429 and 500 up, §5.5 anything else: status %i without a rule of the provider: %s',
    (status, isRetried) => {
      expect(isRetriedStatus(status, undefined, [])).toBe(isRetried);
      expect(isRetriedStatus(status, { after: ['retry-after'] }, [])).toBe(isRetried);
    },
  );

  it.each([
    [403, true],
    [429, false],
    [401, false],
    [500, true],
    [501, true],
    [503, false],
    [418, true],
    [404, false],
  ])('status %i with a list of the provider: only its entries', (status, isRetried) => {
    const definition = { error_code: ['403', '500-502', '418'] };
    expect(isRetriedStatus(status, definition, [])).toBe(isRetried);
  });

  it('classes of statuses', () => {
    expect(isRetriedStatus(503, { error_code: ['5xx'] }, [])).toBe(true);
    expect(isRetriedStatus(429, { error_code: ['5XX'] }, [])).toBe(false);
  });

  it('the call adds its own, and takes none away', () => {
    expect(isRetriedStatus(404, undefined, [404])).toBe(true);
    expect(isRetriedStatus(404, { error_code: ['5xx'] }, [404])).toBe(true);
    expect(isRetriedStatus(429, undefined, [404])).toBe(true);
  });
});

describe('§5.5 the wait', () => {
  const none = { call: {}, provider: undefined };

  it('§16 the cap of a retry’s wait: doubles from 3 s up to 10 minutes', () => {
    const waits = [0, 1, 2, 7, 8, 30].map((attempt) => retryWaitMs(null, none, attempt, now));
    expect(waits).toEqual([3_000, 6_000, 12_000, 384_000, 600_000, 600_000]);
  });

  it.each([
    ['seconds', { after: ['X-After'] }, { 'x-after': '7' }, 7_000],
    ['fractions', { after: ['x-after'] }, { 'x-after': '0.5' }, 500],
    ['epoch seconds', { at: ['x-at'] }, { 'x-at': String(now / 1000 + 9) }, 9_000],
    ['epoch milliseconds', { at: ['x-at'] }, { 'x-at': String(now + 1_234) }, 1_234],
    ['a date', { at: ['x-at'] }, { 'x-at': new Date(now + 5_000).toUTCString() }, 5_000],
    [
      'the longest of several',
      { after: ['a', 'b'], at: ['c'] },
      { a: '1', b: '8', c: String(now + 2_000) },
      8_000,
    ],
    ['no more than the cap', { after: ['a'] }, { a: '100000' }, 600_000],
    ['a time that has passed is none', { at: ['x-at'] }, { 'x-at': String(now - 1) }, 3_000],
    ['nonsense is none', { after: ['a'], at: ['a'] }, { a: 'soon' }, 3_000],
    ['empty is none', { after: ['a'], at: ['a'] }, { a: '' }, 3_000],
    ['absent is none', { after: ['a'] }, {}, 3_000],
  ])('from headers: %s', (_, names, headers, expected) => {
    expect(retryWaitMs(reply(headers), { call: names, provider: undefined }, 0, now)).toBe(
      expected,
    );
    expect(retryWaitMs(reply(headers), { call: {}, provider: names }, 0, now)).toBe(expected);
  });

  it('is what the call says before what the provider says', () => {
    const rules = { call: { after: ['mine'] }, provider: { after: ['theirs'] } };
    expect(retryWaitMs(reply({ mine: '1', theirs: '9' }), rules, 0, now)).toBe(1_000);
    expect(retryWaitMs(reply({ theirs: '9' }), rules, 0, now)).toBe(9_000);
  });

  it.each([
    [{ path: 'error.wait', strategy: 'after' as const }, '{"error":{"wait":4}}', 4_000],
    [
      { path: 'error.text', value: 'try in (\\d+) s', strategy: 'after' as const },
      '{"error":{"text":"try in 12 s"}}',
      12_000,
    ],
    [
      { path: 'error.text', value: '/try in (\\d+) s/', strategy: 'after' as const },
      '{"error":{"text":"try in 12 s"}}',
      12_000,
    ],
    [{ path: 'until', strategy: 'at' as const }, JSON.stringify({ until: now + 2_500 }), 2_500],
    [
      { path: 'error.text', value: 'other (\\d+)', strategy: 'after' as const },
      '{"error":{"text":"try in 12 s"}}',
      3_000,
    ],
    [{ path: 'missing.path', strategy: 'after' as const }, '{}', 3_000],
    [{ path: 'a', strategy: 'after' as const }, 'no JSON', 3_000],
  ])('from the body: %j', (in_body, body, expected) => {
    expect(retryWaitMs(reply({}, body), { call: {}, provider: { in_body } }, 0, now)).toBe(
      expected,
    );
  });
});
