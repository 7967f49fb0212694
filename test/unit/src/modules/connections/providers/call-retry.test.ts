import { describe, expect, it } from 'vitest';
import {
  isRetried,
  isRetriedHead,
  retryWaitMs,
} from '#modules/connections/providers/call-retry.ts';
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
      expect(isRetriedHead({ status, headers: {} }, undefined, [])).toBe(isRetried);
      expect(isRetriedHead({ status, headers: {} }, { after: ['retry-after'] }, [])).toBe(
        isRetried,
      );
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
    expect(isRetriedHead({ status, headers: {} }, definition, [])).toBe(isRetried);
  });

  it('classes of statuses', () => {
    expect(isRetriedHead({ status: 503, headers: {} }, { error_code: ['5xx'] }, [])).toBe(true);
    expect(isRetriedHead({ status: 429, headers: {} }, { error_code: ['5XX'] }, [])).toBe(false);
  });

  it('the call adds its own, and takes none away', () => {
    expect(isRetriedHead({ status: 404, headers: {} }, undefined, [404])).toBe(true);
    expect(isRetriedHead({ status: 404, headers: {} }, { error_code: ['5xx'] }, [404])).toBe(true);
    expect(isRetriedHead({ status: 429, headers: {} }, undefined, [404])).toBe(true);
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

  const failed = (status: number, headers: Record<string, string>, body = ''): HttpReply => ({
    ...reply(headers, body),
    status,
  });
  const inSeconds = (seconds: number) => String(now / 1000 + seconds);
  const github = {
    after: ['retry-after'],
    at: ['x-ratelimit-reset'],
    remaining: 'x-ratelimit-remaining',
  };

  it.each([
    ['502 with calls left', 502, { 'x-ratelimit-remaining': '4999' }],
    ['502 that says nothing of calls', 502, {}],
    ['500 with no calls left', 500, { 'x-ratelimit-remaining': '0' }],
    ['401 with no calls left', 401, { 'x-ratelimit-remaining': '0' }],
    ['429 with calls left', 429, { 'x-ratelimit-remaining': '12' }],
  ])('a reset counts only where the limit is what failed: %s', (_, status, headers) => {
    const answer = failed(status, { ...headers, 'x-ratelimit-reset': inSeconds(1800) });
    for (const rules of [
      { call: {}, provider: github },
      { call: { at: ['x-ratelimit-reset'] }, provider: undefined },
      { call: { after: ['x-ratelimit-reset'] }, provider: undefined },
      none,
    ]) {
      expect(retryWaitMs(answer, rules, 0, now)).toBe(3_000);
    }
  });

  it.each([
    ['seconds', '7', 7_000],
    ['a date', new Date(now + 9_000).toUTCString(), 9_000],
    ['a date that has passed', new Date(now - 9_000).toUTCString(), 3_000],
    ['negative', '-7', 3_000],
    ['zero', '0', 3_000],
    ['a time in seconds', inSeconds(11), 11_000],
    ['a time in milliseconds', String(now + 2_500), 2_500],
    ['a time that has passed', inSeconds(-60), 3_000],
    ['nonsense', 'soon', 3_000],
  ])('§5.5 Retry-After is obeyed with and without a definition: %s', (_, value, expected) => {
    for (const status of [429, 503, 502, 408]) {
      const answer = failed(status, { 'retry-after': value });
      expect(retryWaitMs(answer, none, 0, now)).toBe(expected);
      expect(retryWaitMs(answer, { call: {}, provider: github }, 0, now)).toBe(expected);
    }
  });

  it('a definition that names Retry-After alone leaves the usual resets as they are', () => {
    const answer = failed(429, { 'x-ratelimit-reset': inSeconds(42) });
    const rules = { call: {}, provider: { after: ['retry-after'] } };
    expect(retryWaitMs(answer, rules, 0, now)).toBe(42_000);
    const other = { call: {}, provider: { after: ['x-other'] } };
    expect(retryWaitMs(answer, other, 0, now)).toBe(3_000);
  });

  it.each([
    ['seconds under the name of a time', '42', 42_000],
    ['epoch seconds', inSeconds(42), 42_000],
    ['epoch milliseconds', String(now + 42_000), 42_000],
    ['negative', '-42', 3_000],
    ['an earlier time', inSeconds(-42), 3_000],
    ['a date', new Date(now + 42_000).toISOString(), 42_000],
  ])('units of a reset, also without a definition: %s', (_, value, expected) => {
    const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': value };
    for (const status of [403, 429]) {
      expect(retryWaitMs(failed(status, headers), none, 0, now)).toBe(expected);
      const rules = { call: {}, provider: github };
      expect(retryWaitMs(failed(status, headers), rules, 0, now)).toBe(expected);
    }
  });

  it('milliseconds where the name says so', () => {
    const rules = { call: { after: ['retry-after-ms'] }, provider: undefined };
    expect(retryWaitMs(failed(503, { 'retry-after-ms': '1500' }), rules, 0, now)).toBe(1_500);
  });

  it('403 without calls left is a limit, with or without a definition', () => {
    const isRetriedWith = (headers: Record<string, string>) =>
      [undefined, github].map((definition) =>
        isRetriedHead({ status: 403, headers }, definition, []),
      );
    expect(isRetriedWith({ 'x-ratelimit-remaining': '0' })).toEqual([true, true]);
    expect(isRetriedWith({ 'x-ratelimit-remaining': '1' })).toEqual([false, false]);
    expect(isRetriedWith({})).toEqual([false, false]);
  });

  it.each([
    [400, '{"errors":[{"code":"a"},{"code":"LIMIT"}]}', true],
    [400, '{"errors":[{"code":"OTHER"}]}', false],
    [400, '{"errors":{"code":"LIMIT"}}', false],
    [404, '{"errors":[{"code":"LIMIT"}]}', false],
    [400, 'no JSON', false],
  ])('a rule about the body: %i %s', (status, body, isLimit) => {
    const limited = [{ statuses: ['400'], body: 'errors.*.code', values: ['LIMIT'], wait: 60 }];
    const answer = failed(status, { 'x-ratelimit-reset': inSeconds(1800) }, body);
    expect(isRetried(answer, { limited }, [])).toBe(isLimit);
    const rules = { call: {}, provider: { limited, at: ['x-ratelimit-reset'] } };
    expect(retryWaitMs(answer, rules, 0, now)).toBe(isLimit ? 600_000 : 3_000);
    if (isLimit) expect(retryWaitMs(failed(status, {}, body), rules, 0, now)).toBe(60_000);
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
