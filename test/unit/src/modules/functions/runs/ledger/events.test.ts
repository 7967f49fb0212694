import { describe, expect, it } from 'vitest';
import { scrub } from '#kernel/scrub.ts';

describe('the text of an error on a public topic', () => {
  it.each([
    ['answered 401 for Bearer abc.def-123', 'abc.def-123'],
    ['{"access_token":"s3cr3t-value","id":1}', 's3cr3t-value'],
    ['https://user:pass1word@host/x failed', 'pass1word'],
    ['api_key=AKIA99 was refused', 'AKIA99'],
  ])('holds no credential: %s', (message, secret) => {
    expect(scrub(message)).not.toContain(secret);
  });

  it('is left as it is otherwise', () => {
    expect(scrub('The record 7 of Contact is larger than 1 MB.')).toBe(
      'The record 7 of Contact is larger than 1 MB.',
    );
  });

  it('has at most 2 KiB, also of letters that need several bytes', () => {
    for (const letter of ['x', 'ß', '語', '😀']) {
      const text = scrub(letter.repeat(5000));
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(2048);
      expect(text.isWellFormed()).toBe(true);
      expect(text).not.toContain('\uFFFD');
    }
  });
});
