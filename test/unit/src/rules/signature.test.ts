import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { hmacSignature, legacySignature, signDelivery, verifyDelivery } from '#rules/signature.ts';

const key = '00000000-0000-4000-8000-000000000001';
const body = Buffer.from('{"from":"svc","type":"sync"}');

describe('the signatures of a webhook', () => {
  // Made with `openssl dgst -sha256 -hmac <key>` and `sha256sum` over key and body.
  it('are the known ones of a known key and body', () => {
    expect(hmacSignature(key, body)).toBe(
      '587c4892f1cb9e3dd843e1e1ac1f8c0693e71c3c6a710a59e9e9128b049226b3',
    );
    expect(legacySignature(key, body)).toBe(
      'e282e648deaffa893d75fd1d7fca57adb4c61b6368ea3f15c91887defe7ee1ff',
    );
  });

  it('are of the test vector of RFC 4231, case 2', () => {
    expect(hmacSignature('Jefe', Buffer.from('what do ya want for nothing?'))).toBe(
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    );
  });

  it('cover the exact bytes', () => {
    expect(verifyDelivery(key, body, hmacSignature(key, body))).toBe(true);
    expect(verifyDelivery(key, body.toString(), hmacSignature(key, body))).toBe(true);
    expect(verifyDelivery(key, `${body.toString()} `, hmacSignature(key, body))).toBe(false);
    expect(verifyDelivery(`${key}0`, body, hmacSignature(key, body))).toBe(false);
    expect(verifyDelivery(key, body, undefined)).toBe(false);
    expect(verifyDelivery(key, body, 'short')).toBe(false);
  });

  it.each(['', ' ', '\n', 'whsec_', 'whsec_=!='])('are of nobody with a blank key: %j', (blank) => {
    expect(verifyDelivery(blank, body, hmacSignature(blank, body))).toBe(false);
  });

  it('use the new key at once, and both keys in the standard header after a rotation', () => {
    const message = { id: 'msg', body, at: 1_700_000_000_999 };
    const headers = signDelivery({ current: key, previous: 'old' }, message);
    const standard = (secret: string) =>
      `v1,${createHmac('sha256', secret).update(`msg.1700000000.${body.toString()}`).digest('base64')}`;
    expect(headers).toEqual({
      'x-svc-hmac-sha256': hmacSignature(key, body),
      'x-svc-signature': legacySignature(key, body),
      'webhook-id': 'msg',
      'webhook-timestamp': '1700000000',
      'webhook-signature': `${standard(key)} ${standard('old')}`,
    });
  });
});
