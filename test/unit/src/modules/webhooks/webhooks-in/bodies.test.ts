import { describe, expect, it } from 'vitest';
import { webhookRules, type WebhookRules } from '#modules/connections/providers/webhook-rules.ts';
import { readFacts } from '#modules/webhooks/webhooks-in/facts.ts';

const bodyOf = async (type: string, bytes: Buffer | string, rules: object = {}) => {
  const request = { headers: { 'content-type': type }, search: '', bytes: Buffer.from(bytes) };
  return (await readFacts(request, webhookRules.parse(rules) as WebhookRules)).body;
};
const form = 'application/x-www-form-urlencoded';
const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le');

describe('the body of a webhook', () => {
  it.each([
    ['JSON with a byte order mark', 'application/json', '\ufeff{"a":"ä"}', { a: 'ä' }],
    ['JSON in UTF-16', 'application/json', utf16('{"a":"ä"}'), { a: 'ä' }],
    [
      'JSON in a declared charset',
      'application/json; charset=windows-1252',
      Buffer.from('{"a":"ä"}', 'latin1'),
      { a: 'ä' },
    ],
    ['JSON in an unknown charset', 'application/json; charset=none', '{"a":"ä"}', { a: 'ä' }],
    ['text in a charset', 'text/plain; charset="iso-8859-1"', Buffer.from('ä', 'latin1'), 'ä'],
    ['only a byte order mark', 'application/json', '\ufeff', {}],
    ['a form', form, 'a=1&b=2', { a: '1', b: '2' }],
    ['a form that repeats a field', form, 'a=1&b=2&a=3&a=', { a: ['1', '3', ''], b: '2' }],
    [
      'a form with a hostile name',
      form,
      '__proto__=1&__proto__=2',
      JSON.parse('{"__proto__":["1","2"]}'),
    ],
  ])('is read from %s', async (_, type, bytes, expected) => {
    expect(await bodyOf(type, bytes)).toEqual(expected);
  });

  const part = (disposition: string, value: string, more = '') =>
    `--b1\r\nContent-Disposition: form-data; ${disposition}\r\n${more}\r\n${value}\r\n`;

  it('is read from multipart: text, repeated fields, files, unquoted names', async () => {
    const body = [
      part('name="a"', '1'),
      part('name="a"', 'ä'),
      part('name=plain', 'x\r\ny'),
      part('name="file"; filename="n.txt"', 'bytes', 'Content-Type: text/plain\r\n'),
      '--b1--\r\n',
    ].join('');
    for (const boundary of ['b1', '"b1"']) {
      expect(await bodyOf(`multipart/form-data; boundary=${boundary}`, body)).toEqual({
        a: ['1', 'ä'],
        plain: 'x\r\ny',
        file: { filename: 'n.txt', content_type: 'text/plain', base64: 'Ynl0ZXM=' },
      });
    }
  });

  it('is the JSON of the field that the rules name, in either kind of form', async () => {
    const rules = { form_field: 'payload' };
    const json = '{"type":"block_actions"}';
    const expected = { type: 'block_actions' };
    expect(await bodyOf(form, `payload=${encodeURIComponent(json)}`, rules)).toEqual(expected);
    const body = `${part('name="payload"', json)}--b1--\r\n`;
    expect(await bodyOf('multipart/form-data; boundary=b1', body, rules)).toEqual(expected);
    expect(await bodyOf(form, 'command=%2Fx', rules)).toEqual({ command: '/x' });
  });

  it.each([
    ['without a boundary', 'multipart/form-data', 'x'],
    ['that breaks off', 'multipart/form-data; boundary=b1', part('name="a"', '1')],
  ])('in multipart %s is refused', async (_, type, body) => {
    await expect(bodyOf(type, body)).rejects.toMatchObject({ code: 'webhook_invalid_payload' });
  });
});
