import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  eventually,
  openCrmWorld,
  succeeded,
  type CrmConnection,
  type CrmWorld,
} from '../support/crm-world.ts';
import type { Answer } from '../support/gateway.ts';
import { withLimits } from '../support/with-limits.ts';

let world: CrmWorld;
let crm: CrmConnection;
beforeAll(async () => {
  const limits = {
    actionStartByMs: 2_000,
    actionRunMaxMs: 4_000,
    runGraceMs: 100,
    compileMaxMs: 1,
    hostCallsMax: 50,
  };
  world = await openCrmWorld({ env: withLimits(limits) });
  crm = await world.connect();
  const reconciliationScope = { kind: 'integration', integrationId: 'crm' };
  const functions = [
    action('waits', 'return new Promise((resolve) => setTimeout(resolve, 600_000));'),
    action('chats', `for (;;) await svc.getMetadata();`),
  ];
  const body = { reconciliationScope, functions };
  succeeded(await world.gateway.call('POST', '/functions/deployments/bundle', { body }));
});
afterAll(() => world[Symbol.asyncDispose]());

const action = (syncName: string, body: string) => ({
  type: 'action',
  syncName,
  providerConfigKey: 'crm',
  models: [],
  runs: null,
  fileBody: {
    js: `const { z } = require('zod');\nexports.default = { type: 'action', description: '', input: z.any(), output: z.any(), exec: async (svc) => { ${body} } };`,
    ts: '// of a test of limits',
  },
});
const codeOf = ({ status, body }: Answer): string =>
  `${status} ${(body as { error?: { code: string } }).error?.code ?? ''}`;
const post = (path: string, body: object) => world.gateway.call('POST', path, { body });

describe('an action', () => {
  it('§16 the time of an action: one that takes too long is ended; one that finds no place in time does not run', async () => {
    // A connection has 16 places.
    const ask = () => Promise.all(Array.from({ length: 17 }, () => crm.action('waits')));
    const codes = await eventually(
      async () => (await ask()).map(codeOf),
      (all) => all.includes('504 execution_timeout'),
    );
    expect(codes).toContain('503 execution_environment_unavailable');
  });

  it('that calls the host too often is ended', async () => {
    expect(codeOf(await crm.action('chats'))).toBe('424 function_runtime_other');
  });
});

describe('a function that takes too long to compile', () => {
  const code = 'export default 1;';

  it('is not compiled', async () => {
    expect(codeOf(await post('/functions/compile', { code }))).toBe('504 timeout');
  });

  it('is not tried out', async () => {
    const of = { integration_id: 'crm', function_type: 'action', connection_id: crm.id };
    expect(codeOf(await post('/functions/dryruns', { ...of, code }))).toBe('504 timeout');
  });
});
