import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApiServer } from '#api/request-pipeline.ts';
import type { HttpServer } from '#http/server.ts';
import { actionRoutes } from '#modules/functions/actions/routes.ts';
import { functionRef } from '#modules/functions/functions/entity.ts';
import { openRunWorld, until, type RunWorld } from '#test/support/worlds/runs.ts';
import { sharedSandbox } from '#test/support/worlds/shared-sandbox.ts';

const stack = new AsyncDisposableStack();
let world: RunWorld;
let server: HttpServer;

beforeAll(async () => {
  world = stack.use(await openRunWorld());
  const sandbox = await sharedSandbox();
  stack.use(await world.startRunner(sandbox));
  const { services } = world;
  server = stack.use(
    await startApiServer({ routes: actionRoutes, services, host: '127.0.0.1', port: 0 }),
  );
  const action = (exec: string) => `module.exports.default = { type: 'action', exec: ${exec} };`;
  await world.deploy('action', 'echo', action('async (svc, input) => input'));
  await world.deploy('action', 'nothing', action('async () => {}'));
  await world.deploy(
    'action',
    'refuse',
    action('async (svc, input) => { throw new svc.ActionError(input); }'),
  );
  await world.deploy('action', 'large', action(`async () => 'x'.repeat(2 * 1024 * 1024)`));
  await world.deploy(
    'action',
    'waits',
    action('() => new Promise((resolve) => setTimeout(resolve, 600_000))'),
  );
  await world.deploy('action', 'off', action('async () => 1'));
  const { uid } = world.environment;
  const ref = functionRef(uid, 'crm', 'action', 'off');
  await world.node.control.execute(ref, { type: 'Disable' }, { actor: 'system' });
});
afterAll(() => stack.disposeAsync());

const headersOf = (more: Record<string, string> = {}) => ({
  authorization: `Bearer ${world.secret}`,
  'content-type': 'application/json',
  'provider-config-key': 'crm',
  'connection-id': 'acme',
  ...more,
});
const trigger = async (action_name: string, input?: unknown, more: Record<string, string> = {}) => {
  const body = JSON.stringify({ action_name, input });
  const init = { method: 'POST', headers: headersOf(more), body };
  const response = await fetch(`${server.url}/action/trigger`, init);
  return { status: response.status, headers: response.headers, body: await response.json() };
};

describe('POST /action/trigger', () => {
  it.each([[{ a: [1] }], ['text'], [0], [false], [{}]])(
    'answers the output as it is: %j',
    async (output) => {
      expect(await trigger('echo', output)).toMatchObject({ status: 200, body: output });
    },
  );

  it('answers null when there is none', async () => {
    expect(await trigger('nothing')).toMatchObject({ status: 200, body: null });
  });

  it('answers an ActionError with exactly its two fields', async () => {
    const { status, body } = await trigger('refuse', { reason: 'full', left: 0 });
    expect(status).toBe(424);
    expect(body).toEqual({
      error_type: 'action_script_failure',
      payload: { reason: 'full', left: 0 },
    });
  });

  it('wraps a payload that is no object', async () => {
    const { body } = await trigger('refuse', 'no room');
    expect(body).toEqual({ error_type: 'action_script_failure', payload: { message: 'no room' } });
  });

  it.each([
    ['unknown', 404, 'not_found'],
    ['off', 404, 'disabled_resource'],
    ['large', 424, 'script_output_too_large'],
  ])('answers %s with %i %s', async (name, status, code) => {
    expect(await trigger(name)).toMatchObject({ status, body: { error: { code } } });
  });

  it('refuses an unknown connection with 400', async () => {
    const answer = await trigger('echo', 1, { 'connection-id': 'nobody' });
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'unknown_connection' } } });
  });

  it('refuses an input over 2 MB with 413', async () => {
    const answer = await trigger('echo', 'x'.repeat(2 * 1024 ** 2));
    expect(answer).toMatchObject({ status: 413, body: { error: { code: 'request_too_large' } } });
  });

  it('asks for the connection', async () => {
    const answer = await trigger('echo', 1, { 'connection-id': '' });
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'invalid_headers' } } });
  });

  it('queues with X-Async and answers where the output will be', async () => {
    const queued = await trigger('echo', { n: 1 }, { 'x-async': 'true', 'x-max-retries': '2' });
    const { id } = queued.body as { id: string };
    expect(queued).toMatchObject({ status: 202, body: { id, statusUrl: `/action/${id}` } });
    expect(queued.headers.get('location')).toBe(`/action/${id}`);
    const output = await until(async () => {
      const response = await fetch(`${server.url}/action/${id}`, { headers: headersOf() });
      return response.status === 200 ? await response.json() : null;
    });
    expect(output).toEqual({ n: 1 });
  });

  const outputOf = async (id: string) => {
    const response = await fetch(`${server.url}/action/${id}`, { headers: headersOf() });
    return { status: response.status, body: await response.json() };
  };

  it('says that an action has not ended yet', async () => {
    const queued = await trigger('waits', null, { 'x-async': 'true' });
    const { id } = queued.body as { id: string };
    expect(await outputOf(id)).toMatchObject({
      status: 404,
      body: { error: { code: 'not_found', message: 'The action has not finished yet.' } },
    });
  });

  it('knows no output of an unknown run', async () => {
    expect(await outputOf(crypto.randomUUID())).toMatchObject({
      status: 404,
      body: {
        error: {
          code: 'not_found',
          message: 'The action run does not exist or was deleted.',
        },
      },
    });
  });
});
