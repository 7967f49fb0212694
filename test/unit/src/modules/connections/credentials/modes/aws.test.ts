import { describe, expect, it } from 'vitest';
import { demandAwsSignature } from '#fake-providers/aws.ts';
import type { Credentials } from '#modules/connections/connections/state.ts';
import { needsWholeBody } from '#modules/connections/providers/inject.ts';
import { playingInEachTest } from '#test/support/fakes/fake-auth/playing.ts';
import { builtInCatalogue } from '#test/support/worlds/catalogue.ts';

const play = playingInEachTest();
const aws = builtInCatalogue().find('aws-sigv4')!;
const { role_arn: _role, external_id: _id, ...withoutRole } = aws.connection_config!;

/** Keys, requests and signatures that AWS publishes: its test suite of the signature, and the examples of S3. */
const suite = { id: 'AKIDEXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };
const storage = { id: 'AKIAIOSFODNN7EXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' };
const emptyDigest = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

describe('the verifier of the fake', () => {
  it.each([
    [
      'get-vanilla',
      suite,
      { method: 'GET', url: 'https://example.amazonaws.com/', service: 'service' },
      { 'x-amz-date': '20150830T123600Z' },
      '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
    ],
    [
      'post-vanilla',
      suite,
      { method: 'POST', url: 'https://example.amazonaws.com/', service: 'service' },
      { 'x-amz-date': '20150830T123600Z' },
      '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
    ],
    [
      'get-vanilla-query-order-key-case',
      suite,
      {
        method: 'GET',
        url: 'https://example.amazonaws.com/?Param2=value2&Param1=value1',
        service: 'service',
      },
      { 'x-amz-date': '20150830T123600Z' },
      'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
    ],
    [
      'GET object',
      storage,
      { method: 'GET', url: 'https://examplebucket.s3.amazonaws.com/test.txt', service: 's3' },
      {
        range: 'bytes=0-9',
        'x-amz-content-sha256': emptyDigest,
        'x-amz-date': '20130524T000000Z',
      },
      'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    ],
  ])('takes the published signature of %s, and no other', (_, keys, call, more, signature) => {
    const { method, url, service } = call;
    const signed: Record<string, string> = { host: new URL(url).host, ...more };
    const names = Object.keys(signed).sort().join(';');
    const day = signed['x-amz-date']!.slice(0, 8);
    const check = (shown: string) =>
      demandAwsSignature(
        {
          method,
          url: new URL(url),
          headers: {
            ...signed,
            authorization: `AWS4-HMAC-SHA256 Credential=${keys.id}/${day}/us-east-1/${service}/aws4_request, SignedHeaders=${names}, Signature=${shown}`,
          },
          body: '',
        },
        { service, region: 'us-east-1' },
        () => keys.secret,
      );
    expect(check(signature)).toBe(keys.id);
    expect(() => check(signature.replace(/^./, (first) => (first === '0' ? '1' : '0')))).toThrow(
      'wrong_signature',
    );
  });
});

describe('calls that are signed with own keys', () => {
  it('are taken with any method, path, query and body', async () => {
    const caller = play({ ...aws, connection_config: withoutRole });
    const connected = await caller.import();
    expect(connected.expiresAt).toBeNull();
    for (const options of [
      { path: '/things?b=2&a=%20x&a=1' },
      { path: "/a%20b/c:d/!'()*" },
      {
        method: 'POST',
        data: 'Action=List&Name=%C3%A9',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      },
      { method: 'PUT', data: { a: 'ü' }, headers: { 'x-amz-target': 'Things.Put' } },
    ]) {
      expect([options, await caller.call(connected, options)]).toEqual([options, 200]);
    }
    caller.endTokens();
    expect(await caller.call(connected)).toBe(403);
  });

  it('of S3 leave the body unsigned, so that it may stream; others need it whole', () => {
    const s3 = builtInCatalogue().find('aws-s3')!;
    expect(needsWholeBody(s3, 'application/octet-stream')).toBe(false);
    expect(needsWholeBody(aws, 'application/octet-stream')).toBe(true);
  });
});

describe('a role', () => {
  it('is assumed with the external id, and again before its keys end', async () => {
    const caller = play(aws);
    const first = await caller.import();
    expect(await caller.call(first)).toBe(200);
    expect(first.expiresAt! - Date.now()).toBeGreaterThan(3_500_000);
    const { rules, context } = caller;
    const held = first.credentials as Credentials;
    expect(rules.renewal!.isPossible(held, context().provider)).toBe(true);
    const second = await rules.renewal!.renew(held, context());
    expect(await caller.call(second)).toBe(200);
    expect(caller.outcomes('token')).toEqual(['granted', 'granted']);
    expect(second.credentials).not.toEqual(first.credentials);
  });

  it('is assumed with the keys of the integration where the person has none', async () => {
    const caller = play({ ...aws, credentials: {} });
    const { access_key_id: clientId, secret_access_key: clientSecret } = caller.form as Record<
      string,
      string
    >;
    const context = {
      ...caller.context(),
      client: { type: 'AWS_SIGV4', clientId: clientId!, clientSecret: clientSecret! },
    };
    const connected = await caller.rules.import({}, context);
    expect(await caller.call(connected)).toBe(200);
    expect(JSON.stringify(connected.credentials)).not.toContain(clientSecret);
  });

  it('that is refused is a definitive failure, without a secret, and leaves the keys that are valid', async () => {
    const external_id = {
      ...aws.connection_config!['external_id']!,
      example: 'external-0123456789',
    };
    const caller = play({ ...aws, connection_config: { ...aws.connection_config, external_id } });
    const externalId = caller.connectionConfig['external_id'];
    const Message = `User is not authorized to perform sts:AssumeRole with ${externalId}`;
    caller.plan('token', { status: 403, body: { Error: { Code: 'AccessDenied', Message } } });
    const error = (await caller.import().catch((cause: unknown) => cause)) as Error;
    expect(error).toMatchObject({
      failure: {
        code: 'invalid_credentials',
        providerCode: 'AccessDenied',
        isDefinitive: true,
        endsValidToken: false,
      },
    });
    expect(error.message).toContain('sts:AssumeRole with [removed]');
  });

  it.each([429, 500])('that is not assumed for now (%i) may be assumed later', async (status) => {
    const caller = play(aws);
    caller.plan('token', { status, body: { Error: { Code: 'Throttling' } } });
    await expect(caller.import()).rejects.toMatchObject({ failure: { isDefinitive: false } });
  });
});
