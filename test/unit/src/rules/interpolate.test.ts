import { describe, expect, it } from 'vitest';
import {
  interpolate,
  interpolateJson,
  interpolateUrl,
  isKnownToken,
  tokensOf,
  type TemplateValues,
} from '#rules/interpolate.ts';

const values: TemplateValues = {
  connectionConfig: {
    subdomain: 'acme',
    'account.id': 'flat',
    account: { id: 'nested', region: 'eu' },
    host: 'crm.example:8443',
    url: 'https://own.example/base',
    evil: 'x/../../admin?a=b#c',
    count: 7,
    empty: '',
  },
  metadata: { team: 'blue' },
  credentials: { apiKey: 'k1', username: 'ann', password: 'p:w', token: 't1', deep: { a: 1 } },
  clientId: 'cid',
  now: Date.UTC(2026, 1, 3, 4, 5, 6, 7),
  random: '11111111-2222-4333-8444-555555555555',
};

describe('a template', () => {
  it.each([
    ['plain', 'plain'],
    ['Bearer ${apiKey}', 'Bearer k1'],
    ['${username}:${password}', 'ann:p:w'],
    ['${accessToken}', 't1'],
    ['${clientId}', 'cid'],
    ['${clientSecret}', null],
    ['${connectionConfig.subdomain}', 'acme'],
    ['${connectionConfig.account.id}', 'flat'],
    ['${connectionConfig.account.region}', 'eu'],
    ['${connectionConfig.count}', '7'],
    ['${connectionConfig.empty}', ''],
    ['${connectionConfig.account}', null],
    ['${connectionConfig.missing}', null],
    ['${connectionConfig.__proto__.x}', null],
    ['${connectionConfig.constructor.name}', null],
    ['${metadata.team}', 'blue'],
    ['${credentials.deep.a}', '1'],
    ['${credentials.toString}', null],
    ['${random}', '11111111-2222-4333-8444-555555555555'],
    ['${now}', '2026-02-03T04:05:06.007Z'],
    ['${now:X}', String(Math.floor(Date.UTC(2026, 1, 3, 4, 5, 6) / 1000))],
    ['${now:x}', String(Date.UTC(2026, 1, 3, 4, 5, 6, 7))],
    ['${now:YYYY-MM-DDTHH:mm:ss}', '2026-02-03T04:05:06'],
    ['${now-5:minutes:HH:mm}', '04:00'],
    ['${now+1:days:DD}', '04'],
    ['${base64(${username}:${password})}', Buffer.from('ann:p:w').toString('base64')],
    ['Basic ${base64(${apiKey}:)}', `Basic ${Buffer.from('k1:').toString('base64')}`],
    ['${base64(${connectionConfig.missing})}', null],
    ['${sha256Hex(a)}', 'ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb'],
    ['${unknownFunction(a)}', null],
    ['${connectionConfig.missing} || fallback', 'fallback'],
    ['${connectionConfig.subdomain} || fallback', 'acme'],
    ['${connectionConfig.missing} || ${connectionConfig.gone}', null],
    ['${connectionConfig.missing}||${apiKey}', 'k1'],
    ['an open ${apiKey', 'an open ${apiKey'],
    ['$notAToken {x}', '$notAToken {x}'],
  ])('%s gives %s', (template, expected) => {
    expect(interpolate(template, values)).toBe(expected);
  });

  it.each([
    ['https://${connectionConfig.subdomain}.crm.example/x', 'https://acme.crm.example/x'],
    ['https://${connectionConfig.host}/x', 'https://crm.example:8443/x'],
    ['${connectionConfig.url}/x', 'https://own.example/base/x'],
    [
      'https://crm.example/${connectionConfig.evil}/x',
      'https://crm.example/x%2F..%2F..%2Fadmin%3Fa%3Db%23c/x',
    ],
    ['https://${connectionConfig.gone}.example || https://api.example', 'https://api.example'],
    ['https://${connectionConfig.gone}.example', null],
  ])('as a URL, %s gives %s', (template, expected) => {
    expect(interpolateUrl(template, values)).toBe(expected);
  });

  it('does not read tokens out of the values it puts in', () => {
    const tricky = { ...values, metadata: { team: '${apiKey}' } };
    expect(interpolate('${metadata.team}', tricky)).toBe('${apiKey}');
  });

  it('in JSON leaves out what cannot be resolved', () => {
    const template = { a: '${apiKey}', b: { c: '${metadata.gone}', d: 1 }, e: ['${username}'] };
    expect(interpolateJson(template, values)).toEqual({ a: 'k1', b: { d: 1 }, e: ['ann'] });
  });

  it('names its tokens, also those inside of functions', () => {
    const tokens = tokensOf('${base64(${username}:${credentials.x})} ${nope}');
    expect(tokens).toEqual(['base64()', 'username', 'credentials.x', 'nope']);
    expect(tokens.map(isKnownToken)).toEqual([true, true, true, false]);
  });
});
