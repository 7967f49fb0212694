import { expect, it } from 'vitest';
import { redactText } from '#kernel/redact.ts';

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
