/* oxlint-disable typescript/no-unsafe-assignment -- expect.any() is anything */
import { expect, it } from 'vitest';
import { GatewayError } from '#kernel/errors.ts';
import type { HostCalls, RunFailure } from '#ports/sandbox.ts';
import { sharedSandbox } from '#test/support/worlds/shared-sandbox.ts';
import { runGuest, type GuestOptions } from './guest.ts';

const sandbox = await sharedSandbox();

async function failureOf(body: string, options: GuestOptions = {}): Promise<RunFailure> {
  const result = await runGuest(sandbox, body, options);
  if (result.status !== 'error') throw new Error('the function did not fail');
  return result.error;
}

const answering = (status: number, body: string): HostCalls => ({
  http: async () => ({
    json: JSON.stringify({
      outcome: 'reply',
      status,
      statusText: '',
      headers: { 'content-type': 'application/json' },
      url: 'https://crm.test/contacts?page=2',
    }),
    body,
  }),
});

it('causes are kept with their places, five at most, and a circle ends', async () => {
  const failure = await failureOf(`
    const third = new TypeError('third');
    const second = Object.assign(new Error('second', { cause: third }), { code: 'E2' });
    throw new Error('first', { cause: second });`);
  expect(failure).toMatchObject({
    message: 'first',
    causes: [
      { name: 'Error', message: 'second', code: 'E2', stack: expect.stringContaining('crm/') },
      { name: 'TypeError', message: 'third', stack: expect.stringContaining('crm/') },
    ],
  });
  const long = await failureOf(`
    let last = 'the end';
    for (let at = 0; at < 20; at++) last = new Error('x'.repeat(5000), { cause: last });
    throw last;`);
  expect(long.causes).toHaveLength(5);
  expect(Math.max(...long.causes!.map(({ message }) => message.length))).toBeLessThan(2_100);
  const circle = await failureOf(`const one = new Error('x'); one.cause = one; throw one;`);
  expect(circle.causes).toBeUndefined();
  const text = await failureOf(`throw new Error('x', { cause: 'only a text' });`);
  expect(text.causes).toEqual([{ name: 'Error', message: 'only a text' }]);
  const many = await failureOf(`await Promise.any([Promise.reject(new Error('of many'))]);`);
  expect(many.causes).toMatchObject([{ message: 'of many' }]);
});

it('a cause that cannot be read leaves the error itself', async () => {
  const failure = await failureOf(
    `throw Object.defineProperty(new Error('x'), 'cause', { get() { throw new Error('no'); } });`,
  );
  expect(failure).toMatchObject({ kind: 'error', message: 'x' });
});

it('an error of the provider has its request, its response and the line that called', async () => {
  const host = answering(422, '{"error":"name is missing"}');
  const failure = await failureOf(`await svc.post({ endpoint: '/contacts' });`, { host });
  expect(failure).toMatchObject({
    kind: 'http',
    stack: expect.stringMatching(/at async .*crm\/function\.cjs:2:\d+/),
    call: {
      method: 'POST',
      url: 'https://crm.test/contacts?page=2',
      status: 422,
      code: null,
      body: '{"error":"name is missing"}',
    },
  });
});

it('an error with an error of the provider as its cause has the request too', async () => {
  const host = answering(500, 'x'.repeat(50_000));
  const failure = await failureOf(
    `try { await svc.get({ endpoint: '/contacts' }); }
     catch (cause) { throw new Error('no contacts', { cause }); }`,
    { host },
  );
  expect(failure).toMatchObject({ kind: 'error', message: 'no contacts', call: { status: 500 } });
  expect(failure.call!.body!.length).toBeLessThan(4_100);
});

it('without a response the request has the code of the failure', async () => {
  const answer = {
    outcome: 'failure',
    code: 'ECONNREFUSED',
    message: 'refused',
    url: 'https://a/',
  };
  const host = { http: async () => ({ json: JSON.stringify(answer), body: '' }) };
  const { call, stack } = await failureOf(`await svc.get({ endpoint: '/' });`, { host });
  expect(call).toEqual({
    ...{ method: 'GET', url: 'https://a/', status: null, code: 'ECONNREFUSED', body: null },
  });
  expect(stack).toContain('crm/function.cjs:2');
});

it('a refusal of the host has the line that called', async () => {
  const host = {
    batchSave: async () => {
      throw new GatewayError('unknown_model', { message: 'no' });
    },
  };
  const { stack } = await failureOf(`await svc.batchSave([{ id: '1' }], 'Contact');`, {
    host,
    type: 'sync',
  });
  expect(stack).toContain('crm/function.cjs:2');
});

it('a run that is over its time names the line that waited', async () => {
  const failure = await failureOf(`await svc.get({ endpoint: '/' });`, {
    host: { http: () => new Promise(() => undefined) },
    limits: { wallMs: 50, graceMs: 5_000 },
  });
  expect(failure).toMatchObject({
    kind: 'timeout',
    stack: expect.stringContaining('crm/function.cjs:2'),
  });
});
