import { describe, expect, it } from 'vitest';
import { isVerification } from '#fake-providers/objects/verification.ts';

const none = new Set<string>();

const requestOf = (method: string, address: string) => ({
  method,
  url: new URL(address, 'http://fake.test'),
});

describe('isVerification', () => {
  it('takes the request of the definition alone', () => {
    const verification = { endpoints: ['/users?page[size]=1'] };
    expect(isVerification(verification, requestOf('GET', '/v1/users?page%5Bsize%5D=1'), none)).toBe(
      true,
    );
    expect(isVerification(verification, requestOf('GET', '/v1/users?page[size]=30'), none)).toBe(
      false,
    );
    expect(isVerification(verification, requestOf('GET', '/v1/users'), none)).toBe(false);
    expect(isVerification(verification, requestOf('POST', '/v1/users?page[size]=1'), none)).toBe(
      false,
    );
  });

  it('takes the method of the definition and any value of the configuration', () => {
    const verification = {
      method: 'POST' as const,
      endpoints: ['/accounts/${connectionConfig.id}/info'],
    };
    expect(isVerification(verification, requestOf('POST', '/v1/accounts/7/info'), none)).toBe(true);
    expect(isVerification(verification, requestOf('POST', '/v1/accounts/info'), none)).toBe(false);
  });

  it('does not look at the parameters that place credentials', () => {
    const verification = { endpoints: ['/me'] };
    const request = requestOf('GET', '/v1/me?key=secret');
    expect(isVerification(verification, request, new Set(['key']))).toBe(true);
    expect(isVerification(verification, request, none)).toBe(false);
  });

  it('takes nothing without a verification', () => {
    expect(isVerification(undefined, requestOf('GET', '/'), none)).toBe(false);
  });
});
