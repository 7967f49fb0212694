import { expect, it } from 'vitest';
import { presentHash, savedRequest } from '#cli/mocks/identity.ts';

const requestWith = (key: string, text = 'email=ada%40example.com') =>
  savedRequest({
    method: 'POST',
    endpoint: '/v1/customers',
    headers: { 'idempotency-key': key, 'x-reason': 'new' },
    body: { kind: 'form', text },
  });

it('a request with another idempotency key gets the saved response', () => {
  expect(requestWith('one')).toEqual(requestWith('two'));
  expect(requestWith('one').hash).not.toBe(requestWith('one', 'email=bob').hash);
  expect(requestWith('one').request.headers).toEqual({ 'x-reason': 'new' });
});

it('a request of mocks that hold an idempotency key is the same request', () => {
  const { method, path, request, hash } = requestWith('one');
  const earlier = { ...request, headers: { ...request.headers, 'idempotency-key': 'saved' } };
  expect(presentHash(method, path, earlier)).toBe(hash);
  const other = { ...earlier, data: 'email=bob' };
  expect(presentHash(method, path, other)).not.toBe(hash);
});
