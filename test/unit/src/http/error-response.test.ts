import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { errorAnswer, issuesOf, refusalOf } from '#http/error-response.ts';
import { webhookUrl } from '#http/fields.ts';
import { catalogue, GatewayError, type ErrorCode } from '#kernel/errors.ts';

const reference = z.union([
  z.string().refine((text) => /^[a-z]+$/.test(text), 'Send a name.'),
  z.strictObject({ name: z.string() }),
]);
const body = z.object({ list: z.array(reference), url: webhookUrl.optional() });

describe('the issues of a value with alternatives', () => {
  it.each([
    ['!', [['custom', 'Send a name.', 'list.0']]],
    [{ name: 5 }, [['invalid_type', expect.stringContaining('expected string'), 'list.0.name']]],
    [{ name: 'a', x: 1 }, [['unrecognized_keys', expect.stringContaining('"x"'), 'list.0']]],
    [5, [['invalid_union', expect.stringMatching(/string.*; or: .*object/), 'list.0']]],
  ])('say what is wrong with %j', (item, issues) => {
    const { error } = body.safeParse({ list: [item] });
    const said = error && issuesOf(error).map((one) => [one.code, one.message, one.path.join('.')]);
    expect(said).toEqual(issues);
  });

  it('leave out that an address is not the empty text', () => {
    const { error } = body.safeParse({ list: [], url: 'ftp://example.com' });
    expect(error && issuesOf(error)).toEqual([
      { code: 'custom', message: 'The value is not a URL.', path: ['url'] },
    ]);
  });
});

describe('a refusal', () => {
  it('says what to do about it in a sentence of its own, whatever its code', () => {
    for (const code of Object.keys(catalogue) as ErrorCode[]) {
      const { message, fix } = errorAnswer(new GatewayError(code)).body.error;
      expect(fix, code).toMatch(/^\p{Lu}[^\n]+\.$/u);
      expect(fix, code).not.toBe(message);
    }
  });

  it.each<[ErrorCode, number]>([
    ['log_unavailable', 1],
    ['not_found', 0],
    // What a process with SVC_READ_ONLY refuses is no failure of it.
    ['read_only', 0],
  ])('of the code %s is logged %i times', (code, times) => {
    const logged: unknown[] = [];
    const log = (line: unknown): void => void logged.push(line);
    const facts = { requestId: 'r', method: 'PUT', path: '/' };
    refusalOf(new GatewayError(code), facts, { error: log, warn: log });
    expect(logged).toHaveLength(times);
  });

  it('says what its place knows better', () => {
    const error = new GatewayError('not_found', { fix: 'Look elsewhere.' });
    expect(errorAnswer(error).body.error.fix).toBe('Look elsewhere.');
  });
});
