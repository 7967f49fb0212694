/* oxlint-disable typescript/no-unsafe-member-access, typescript/no-unsafe-assignment -- a test looks into any answer */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '#test/support/processes/gateway.ts';
import {
  openSharedCrmWorld,
  succeeded,
  type CrmConnection,
  type SharedCrmWorld,
} from '#test/support/worlds/crm-world.ts';
import { compiledFunctions } from '#test/support/worlds/deploy.ts';

let world: SharedCrmWorld;
let crm: CrmConnection;
beforeAll(async () => {
  world = await openSharedCrmWorld();
  crm = await world.connect();
});
afterAll(() => world[Symbol.asyncDispose]());

const call = (method: string, path: string, body?: object): Promise<Answer> =>
  world.gateway.call(method, path, body === undefined ? {} : { body });
const codeOf = ({ status, body }: Answer): string => `${status} ${body?.error?.code ?? ''}`;

const order = (functionName: string, code: string, more: object = {}) => ({
  type: 'function',
  integration_id: 'crm',
  function_name: functionName,
  function_type: 'action',
  code,
  ...more,
});

/** What became of the deployment. */
async function deployed(body: object): Promise<Answer['body']> {
  const queued = await call('POST', '/functions/deployments', body);
  expect(queued).toMatchObject({ status: 202, body: { status: 'waiting' } });
  for (;;) {
    const { body: now } = await call('GET', `/functions/deployments/${queued.body.id}`);
    if (now.status === 'success' || now.status === 'failed') return now;
    await wait(100);
  }
}

const greet = `import { createAction } from 'svc';
import { z } from 'zod';
export default createAction({
  description: 'Greets',
  version: '1.2.0',
  input: z.object({ name: z.string() }),
  output: z.string(),
  exec: async (_svc, input) => 'Hello ' + input.name,
});
`;
const visits = (model: string): string => `import { createSync } from 'svc';
import { z } from 'zod';
export default createSync({
  description: 'Visits',
  frequency: 'every hour',
  models: { ${model}: z.object({ id: z.string() }) },
  exec: async (svc) => {
    await svc.batchSave([{ id: '1' }], '${model}');
  },
});
`;
const functionPath = (name: string, type: string) =>
  `/integrations/crm/functions/${name}?type=${type}`;

describe('a function deployed from source', () => {
  it('runs, stays when a project is deployed, and is removed by itself', async () => {
    expect(await deployed(order('greet', greet))).toMatchObject({
      status: 'success',
      integration_id: 'crm',
      function_name: 'greet',
      function_type: 'action',
      deployed: true,
      deployed_functions: [{ name: 'greet', version: '1.2.0' }],
      duration_ms: expect.any(Number) as number,
    });
    const shown = await call('GET', functionPath('greet', 'action'));
    expect(shown.body.data).toMatchObject({
      source: 'standalone',
      input: 'ActionInput_crm_greet',
      returns: ['ActionOutput_crm_greet'],
    });
    expect((await crm.action('greet', { name: 'Ada' })).body).toBe('Hello Ada');

    const project = await call('POST', '/functions/deployments/bundle', await compiledFunctions());
    expect(succeeded(project).deleted).toEqual([]);
    expect((await crm.action('greet', { name: 'Bo' })).body).toBe('Hello Bo');

    const removed = await call('DELETE', functionPath('greet', 'action'));
    expect(removed).toMatchObject({ status: 200, body: { data: { success: true } } });
    expect((await crm.action('greet', { name: 'Cy' })).status).toBe(404);
  });

  it('loses records of a model only where that is allowed', async () => {
    const sync = (model: string, more: object = {}) =>
      order('visits', visits(model), { function_type: 'sync', ...more });
    expect(await deployed(sync('Visit', { version: '7' }))).toMatchObject({
      deployed_functions: [{ name: 'visits', version: '7' }],
    });
    expect(await crm.status('visits')).toMatchObject({ name: 'visits' });
    expect(await deployed(sync('Stay'))).toMatchObject({
      status: 'failed',
      deployed: false,
      error: { code: 'invalid_request', message: expect.stringContaining('Visit') as string },
    });
    expect(await deployed(sync('Stay', { allow_destructive: true }))).toMatchObject({
      status: 'success',
    });
    expect((await call('DELETE', functionPath('visits', 'sync'))).status).toBe(200);
    const status = `/sync/status?provider_config_key=crm&connection_id=${crm.id}&syncs=visits`;
    expect(codeOf(await call('GET', status))).toBe('400 no_syncs_found');
  });

  it('says what does not compile and where in a project, also that it is of another type', async () => {
    const failed = await deployed(order('greet', visits('Visit')));
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'compilation_error' } });
    expect(failed.error.message).toMatch(/^err - crm\/actions\/greet\.ts:\d+:\d+\n.*sync/);
    expect(failed.error.fix).toBe('Fix the function at the position in the message.');
  });
});

describe('a deployment from source is refused', () => {
  it.each([
    ['404 integration_not_found', { integration_id: 'nobody' }],
    ['400 invalid_request', { function_name: 'echo' }],
    ['413 request_too_large', { code: `//${'x'.repeat(500_000)}` }],
    ['400 invalid_body', { type: 'template' }],
  ])('%s', async (expected, more) => {
    const answer = await call('POST', '/functions/deployments', order('late', greet, more));
    expect(codeOf(answer)).toBe(expected);
  });

  it('and a function of a project is not removed by itself', async () => {
    const answer = await call('DELETE', functionPath('echo', 'action'));
    expect(codeOf(answer)).toBe('400 function_managed_by_deploy');
  });

  it('and one that is not there is not found', async () => {
    const path = `/functions/deployments/${randomUUID()}`;
    expect(codeOf(await call('GET', path))).toBe('404 deployment_not_found');
  });
});
