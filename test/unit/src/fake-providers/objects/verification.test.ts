import { describe, expect, it } from 'vitest';
import { isVerification } from '#cli/fakes/verification.ts';

const definitionOf = (verification: object) =>
  ({ proxy: { base_url: 'https://api.example.com/v1', verification } }) as never;

const requestOf = (method: string, address: string) => ({
  method,
  url: new URL(address, 'http://fake.test'),
});

describe('isVerification', () => {
  it('takes the request of the definition alone', () => {
    const definition = definitionOf({ endpoints: ['/users?page[size]=1'] });
    expect(isVerification(definition, requestOf('GET', '/v1/users?page%5Bsize%5D=1'))).toBe(true);
    expect(isVerification(definition, requestOf('GET', '/v1/users?page[size]=30'))).toBe(false);
    expect(isVerification(definition, requestOf('GET', '/v1/users'))).toBe(false);
    expect(isVerification(definition, requestOf('POST', '/v1/users?page[size]=1'))).toBe(false);
  });

  it('takes the method of the definition and any value of the configuration', () => {
    const definition = definitionOf({
      method: 'POST',
      endpoints: ['/accounts/${connectionConfig.id}/info'],
    });
    expect(isVerification(definition, requestOf('POST', '/v1/accounts/7/info'))).toBe(true);
    expect(isVerification(definition, requestOf('POST', '/v1/accounts/info'))).toBe(false);
  });

  it('takes nothing without a verification', () => {
    expect(isVerification({} as never, requestOf('GET', '/'))).toBe(false);
  });
});
