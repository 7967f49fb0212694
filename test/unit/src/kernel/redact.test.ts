import { expect, it } from 'vitest';
import { redactJson, redactText } from '#kernel/redact.ts';

it.each([
  ['half way: token=abc123secret', 'half way: token=[removed]'],
  ['a:b:api_key=x1, kept', 'a:b:api_key=[removed], kept'],
  ['{"password": "hidden", "name": "kept"}', '{"password": "[removed]", "name": "kept"}'],
  ['my-token: t1&page=2', 'my-token: [removed]&page=2'],
  ['GET https://user:pass@host/x', 'GET https://[removed]@host/x'],
  ['Authorization: Bearer abcdefgh', 'Authorization: [removed] [removed]'],
  ['token=', 'token='],
])('takes the secrets out of %s', (text, clean) => {
  expect(redactText(text)).toBe(clean);
});

it('takes a secret out of JSON that is a number of any size', () => {
  const json = '{"api_key":9007199254740993,"pin_token":1,"id":9007199254740993}';
  const clean = '{"api_key":"[removed]","pin_token":"[removed]","id":9007199254740993}';
  expect(redactJson(json)).toBe(clean);
});
