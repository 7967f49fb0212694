import { createHash, createHmac, generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { interpolate, isKnownToken, type TemplateValues } from '#rules/interpolate.ts';
import type { OutgoingCall } from '#rules/outgoing-call.ts';

const callOf = (method: string, url: string, more: Partial<OutgoingCall> = {}): OutgoingCall => ({
  method,
  url: new URL(url),
  endpoint: '/as/written',
  body: '',
  contentType: '',
  headers: {},
  ...more,
});

const valuesOf = (
  credentials: Record<string, string>,
  more: Partial<TemplateValues> = {},
): TemplateValues => ({
  connectionConfig: {},
  metadata: {},
  credentials,
  now: 0,
  random: 'random',
  ...more,
});

/** PKCS 8 of the 32 bytes of an Ed25519 key (RFC 8410). */
const ed25519Pem = (seed: string): string => {
  const der = Buffer.from(`302e020100300506032b657004220420${seed}`, 'hex').toString('base64');
  return `-----BEGIN PRIVATE KEY-----\n${der}\n-----END PRIVATE KEY-----`;
};

describe('signatures in templates', () => {
  it('hmacSha1Hex has the value of the example that a provider publishes', () => {
    const form = { contentType: 'application/x-www-form-urlencoded' };
    const call = callOf('POST', 'https://api-XXXXXXXX.duosecurity.com/accounts/v1/account/list', {
      ...form,
      body: 'username=root&realname=First+Last',
    });
    const signed =
      '${hmacSha1Hex(Tue, 21 Aug 2012 17:29:18 -0000\n${method}\n${host}\n${path}\n${params}, ${password})}';
    const values = valuesOf({ password: 'Zh5eGmUq9zpfQnyUIu5OL9iWoMMv5ZNmk3zLJ4Ep' }, { call });
    expect(interpolate(signed, values)).toBe('2d97d6166319781b5a3a07af39d366f491234edc');
  });

  it('ed25519Sign has the value of the second example of RFC 8032', () => {
    const seed = '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb';
    const signature =
      '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da' +
      '085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00';
    const values = valuesOf({ key: ed25519Pem(seed) });
    const base64 = Buffer.from(signature, 'hex').toString('base64');
    expect(interpolate('${ed25519Sign(r, ${credentials.key})}', values)).toBe(base64);
  });

  it('fingerprint is the digest of the public key, also where line breaks were lost', () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const spki = publicKey.export({ type: 'spki', format: 'der' });
    const digest = createHash('sha256').update(spki).digest('base64');
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    for (const key of [pem, pem.replaceAll('\n', '\\n')]) {
      expect(interpolate('${fingerprint(${credentials.key})}', valuesOf({ key }))).toBe(
        `SHA256:${digest}`,
      );
    }
  });

  it.each([
    [
      'the plainest request of the test suite',
      callOf('GET', 'https://example.amazonaws.com/'),
      'us-east-1, service',
      'SignedHeaders=host;x-amz-date, Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
    ],
    [
      'the worked example',
      callOf('GET', 'https://iam.amazonaws.com/?Version=2010-05-08&Action=ListUsers', {
        contentType: 'application/x-www-form-urlencoded; charset=utf-8',
      }),
      'us-east-1, iam, iam.amazonaws.com',
      'SignedHeaders=content-type;host;x-amz-date, Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7',
    ],
  ])('awsSigV4 has the value of %s', (_, call, where, expected) => {
    const values = valuesOf(
      { id: 'AKIDEXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' },
      { call, now: Date.UTC(2015, 7, 30, 12, 36, 0) },
    );
    const signed = `\${awsSigV4(\${credentials.id}, \${credentials.secret}, ${where})}`;
    expect(interpolate(signed, values)).toContain(expected);
  });

  const awsSecret = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
  const awsSigned = (call: OutgoingCall, service = 'service'): string | null =>
    interpolate(
      `\${awsSigV4(\${credentials.id}, \${credentials.secret}, us-east-1, ${service})}`,
      valuesOf(
        { id: 'AKIDEXAMPLE', secret: awsSecret },
        { call, now: Date.UTC(2015, 7, 30, 12, 36, 0) },
      ),
    );
  const unreserved = '-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

  // Signatures that the provider publishes for its test suite.
  it.each([
    [
      '/?Param2=value2&Param1=value1',
      'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
    ],
    [
      '/?Param1=value2&Param1=Value1',
      'eedbc4e291e521cf13422ffca22be7d2eb8146eecf653089df300a15b2382bd1',
    ],
    [
      '/?Param1=value2&Param1=value1',
      '5772eed61e12b33fae39ee5e7012498b51d56abc0abb7c60486157bd471c4694',
    ],
    ['/?%E1%88%B4=bar', '2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04'],
    [
      `/?${unreserved}=${unreserved}`,
      '9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197',
    ],
    [`/${unreserved}`, '07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f'],
    ['//example//', '9a624bd73a37c9a373b5312afbebe7a714a789de108f0bdfe846570885f57e84'],
  ])('awsSigV4 has the published value of %s', (path, signature) => {
    expect(awsSigned(callOf('GET', `https://example.amazonaws.com${path}`))).toContain(signature);
  });

  // The canonical request by the documented rules: each segment encoded once more, names sorted before values.
  it.each([
    ['/m?b-c=1&b=2', '/m', 'b=2&b-c=1'],
    ['/m/a:b', '/m/a%3Ab', ''],
    ['/m/a%20b/%2F%3A', '/m/a%2520b/%252F%253A', ''],
    ["/x|y/a+b/!'()*/@,;=$&", '/x%7Cy/a%2Bb/%21%27%28%29%2A/%40%2C%3B%3D%24%26', ''],
    ['/m?q=a+b&q=&e&f==&g=[1]|x', '/m', 'e=&f=%3D&g=%5B1%5D%7Cx&q=&q=a%20b'],
    ['/m?A=1&a=2&a-=3&a.=4&a0=5&a_=6&a~=7', '/m', 'A=1&a=2&a-=3&a.=4&a0=5&a_=6&a~=7'],
    ['/?a=%2F%3a&a=%25', '/', 'a=%25&a=%2F%3A'],
  ])('awsSigV4 signs %s by the documented rules', (path, canonicalPath, canonicalQuery) => {
    const body = '{"a":1}';
    const call = callOf('POST', `https://example.amazonaws.com${path}`, {
      body,
      contentType: 'application/x-amz-json-1.0',
      headers: { 'x-amz-target': 'Things.List', accept: 'application/json' },
    });
    const hash = (text: string) => createHash('sha256').update(text).digest('hex');
    const names = 'content-type;host;x-amz-date;x-amz-target';
    const request = [
      'POST',
      canonicalPath,
      canonicalQuery,
      'content-type:application/x-amz-json-1.0',
      'host:example.amazonaws.com',
      'x-amz-date:20150830T123600Z',
      'x-amz-target:Things.List',
      '',
      names,
      hash(body),
    ].join('\n');
    const scope = '20150830/us-east-1/service/aws4_request';
    const text = `AWS4-HMAC-SHA256\n20150830T123600Z\n${scope}\n${hash(request)}`;
    const key = scope
      .split('/')
      .reduce<string | Buffer>(
        (from, part) => createHmac('sha256', from).update(part).digest(),
        `AWS4${awsSecret}`,
      );
    const signature = createHmac('sha256', key).update(text).digest('hex');
    expect(awsSigned(call)).toBe(
      `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/${scope}, SignedHeaders=${names}, Signature=${signature}`,
    );
  });

  it('awsSigV4 of s3 signs the digest of the body and encodes the path once', () => {
    const call = callOf('GET', 'https://examplebucket.s3.amazonaws.com/a%20b//c');
    expect(awsSigned(call, 's3')).toContain('SignedHeaders=host;x-amz-content-sha256;x-amz-date');
  });

  it.each(['${ed25519Sign(a, ${credentials.key})}', '${fingerprint(${credentials.key})}'])(
    '%s with a key that cannot sign says so, and nothing of the key',
    (template) => {
      const failing = () => interpolate(template, valuesOf({ key: 'no key at all' }));
      expect(failing).toThrow(
        expect.objectContaining({
          code: 'invalid_credentials',
          message: expect.not.stringContaining('no key at all') as string,
        }) as Error,
      );
    },
  );

  it('is unresolved without its values, and without a call to sign', () => {
    expect(interpolate('${hmacSha1Hex(a, ${credentials.gone})}', valuesOf({}))).toBeNull();
    expect(interpolate('${hmacSha1Hex(a)}', valuesOf({}))).toBeNull();
    expect(interpolate('${awsSigV4(a, b, c, d)}', valuesOf({}))).toBeNull();
    expect(interpolate('${method}', valuesOf({}))).toBeNull();
  });

  it('takes commas of values and of messages for what they are', () => {
    const values = valuesOf({ message: 'a, b', key: 'k, 1' });
    const direct = interpolate('${hmacSha1Hex(a, b, ${credentials.key})}', values);
    expect(interpolate('${hmacSha1Hex(${credentials.message}, ${credentials.key})}', values)).toBe(
      direct,
    );
  });
});

describe('tokens of the outgoing call', () => {
  const json = { contentType: 'application/json', body: '{"b":2,"a":"x y","deep":{"c":1}}' };
  const call = callOf('POST', 'https://api.example:8443/v1/items?z=1&a=%2B&a=(1)', json);

  it.each([
    ['${method} ${host}', 'POST api.example:8443'],
    ['${path}', '/v1/items'],
    ['${endpoint}', '/as/written'],
    ['${contentType}', 'application/json'],
    ['${urlCanonicalParams}', 'a=%281%29&a=%2B&z=1'],
    ['${bodyCanonicalParams}', json.body],
    ['${params}', 'a=%281%29&a=%2B&a=x%20y&b=2&z=1'],
    ['${sha256Hex(${bodyCanonicalParams})}', createHash('sha256').update(json.body).digest('hex')],
  ])('%s gives %s', (template, expected) => {
    expect(interpolate(template, valuesOf({}, { call }))).toBe(expected);
  });

  it('are known to the check of the catalog', () => {
    const tokens = ['method', 'params', 'hmacSha1Hex()', 'ed25519Sign()', 'awsSigV4()'];
    expect(tokens.filter((token) => !isKnownToken(token))).toEqual([]);
    expect(isKnownToken('magic()')).toBe(false);
  });
});
