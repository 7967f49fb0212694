import { describe, expect, it } from 'vitest';
import { callerHeaders } from '#modules/proxy/headers.ts';
import { providerHeaders } from '#rules/provider-headers.ts';

describe('the headers of a proxied answer', () => {
  it('give a dry run what the provider sent, without those of the gateway', () => {
    const sent = ['x-request-id', 'p1', 'x-ratelimit-reset', '60', 'x-a', '1', 'svc-proxy-x', '2'];
    const passedOn = callerHeaders(200, sent);
    const received: Record<string, string> = { 'x-request-id': 'g1', 'x-ratelimit-limit': '9' };
    for (let at = 0; at < passedOn.length; at += 2) {
      received[passedOn[at] ?? ''] = passedOn[at + 1] ?? '';
    }
    expect(providerHeaders(received)).toEqual({
      'x-request-id': 'p1',
      'x-ratelimit-reset': '60',
      'x-a': '1',
      'svc-proxy-x': '2',
    });
  });
});
