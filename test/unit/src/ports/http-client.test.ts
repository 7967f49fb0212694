import { describe, expect, it } from 'vitest';
import { mayPass } from '#ports/http-client.ts';

describe('a request without an answer', () => {
  it.each([
    'ECONNRESET',
    'ETIMEDOUT',
    'ECONNABORTED',
    'ECONNREFUSED',
    'EHOSTUNREACH',
    'EAI_AGAIN',
    'UND_ERR_SOCKET',
  ])('§5.5 network codes: worth repeating after %s', (code) => {
    expect(mayPass(code)).toBe(true);
  });

  it.each(['ENOTFOUND', 'CERT_HAS_EXPIRED', ''])('is not worth repeating after "%s"', (code) => {
    expect(mayPass(code)).toBe(false);
  });
});
