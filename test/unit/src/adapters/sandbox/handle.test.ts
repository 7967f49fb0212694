import { describe, expect, it } from 'vitest';
import { GatewayError } from '#kernel/errors.ts';
import type { LogLine } from '#ports/sandbox.ts';
import { sharedSandbox } from '#test/support/worlds/shared-sandbox.ts';
import { outputOf, recording, runGuest } from './guest.ts';

const sandbox = await sharedSandbox();

describe('connection, metadata, integration', () => {
  const connection = {
    connection_id: 'c-1',
    metadata: { a: 1 },
    connection_config: { sub: 'x' },
    credentials: { type: 'OAUTH2', access_token: 't', raw: { r: 1 } },
  };

  it('are read through the host', async () => {
    const { host, asked } = recording({
      getConnection: connection,
      getIntegration: { unique_key: 'crm', webhook_url: 'https://hook' },
      getEnvironmentVariables: [{ name: 'A', value: 'b' }],
    });
    const body = `return [await svc.getMetadata(), await svc.getToken(), await svc.getRawTokenResponse(), await svc.getWebhookURL(),
      (await svc.getConnection('k', 'other', { forceRefresh: true })).connection_config, await svc.getEnvironmentVariables()];`;
    expect(await outputOf(sandbox, body, { host })).toEqual([
      { a: 1 },
      't',
      { r: 1 },
      'https://hook',
      { sub: 'x' },
      [{ name: 'A', value: 'b' }],
    ]);
    expect(asked.map(({ args }) => args)).toContainEqual({
      providerConfigKey: 'k',
      connectionId: 'other',
      forceRefresh: true,
    });
    expect(asked.map(({ args }) => args)).toContainEqual({ include: ['webhook'] });
  });

  it.each([
    [
      { type: 'OAUTH1', oauth_token: 'a', oauth_token_secret: 'b' },
      { oAuthToken: 'a', oAuthTokenSecret: 'b' },
    ],
    [
      { type: 'API_KEY', apiKey: 'k' },
      { type: 'API_KEY', apiKey: 'k' },
    ],
    [{ type: 'MCP_OAUTH2', access_token: 't', token_url: 'https://as.example/token' }, 't'],
    [null, {}],
  ])(
    '§4 getToken and getRawTokenResponse, §10 no metadata is an empty object: of %j',
    async (credentials, token) => {
      const { host } = recording({ getConnection: { credentials, metadata: null } });
      expect(
        await outputOf(
          sandbox,
          'return [await svc.getToken(), await svc.getMetadata(), await svc.getRawTokenResponse()];',
          { host },
        ),
      ).toEqual([token, {}, {}]);
    },
  );

  it('§4 setMetadata and updateMetadata take an object, or nothing is written', async () => {
    const { host, asked } = recording({ setMetadata: null, updateMetadata: null });
    await outputOf(
      sandbox,
      'await svc.setMetadata({ a: { b: 1 } }); await svc.updateMetadata({ c: null });',
      { host },
    );
    expect(asked).toEqual([
      { method: 'setMetadata', args: { metadata: { a: { b: 1 } } } },
      { method: 'updateMetadata', args: { metadata: { c: null } } },
    ]);
    expect(await runGuest(sandbox, 'await svc.setMetadata([1]);', { host })).toMatchObject({
      error: { name: 'TypeError' },
    });
  });
});

describe('checkpoints', () => {
  it('§9 a checkpoint may hold empty texts and zeros', async () => {
    const { host, asked } = recording({
      getCheckpoint: { a: '', b: 0, c: false },
      saveCheckpoint: null,
      clearCheckpoint: null,
    });
    const body =
      'const before = await svc.getCheckpoint(); await svc.saveCheckpoint({ a: "", b: 0, c: false }); await svc.clearCheckpoint(); return before;';
    expect(await outputOf(sandbox, body, { host })).toEqual({ a: '', b: 0, c: false });
    expect(asked.map(({ method }) => method)).toEqual([
      'getCheckpoint',
      'saveCheckpoint',
      'clearCheckpoint',
    ]);
  });

  it.each([
    '{ a: {} }',
    '{ a: null }',
    '{ a: [1] }',
    '{ a: new Date() }',
    '{ a: undefined }',
    '{ a: NaN }',
    'null',
    '[]',
    '"x"',
    'new Date()',
  ])('refuses %s', async (checkpoint) => {
    const result = await runGuest(sandbox, `await svc.saveCheckpoint(${checkpoint});`);
    expect(result).toMatchObject({
      error: { kind: 'error', message: expect.stringMatching(/^Invalid checkpoint: /) as string },
    });
  });
});

describe('other functions', () => {
  it('are triggered by name, or by integration, connection and name', async () => {
    const { host, asked } = recording({
      triggerAction: { output: { ok: 1 } },
      triggerSync: null,
      startSync: null,
    });
    const body = `return [await svc.triggerAction('act', { a: 1 }), await svc.triggerAction('act'), await svc.triggerAction('k', 'c', 'act'),
      await svc.triggerAction('k', 'c', 'act', 5), await svc.triggerSync('k', 'c', { name: 's', variant: 'v' }, { reset: true }), await svc.startSync('k', ['s'])];`;
    expect(await outputOf(sandbox, body, { host })).toEqual([
      { ok: 1 },
      { ok: 1 },
      { ok: 1 },
      { ok: 1 },
      null,
      null,
    ]);
    expect(asked.map(({ args }) => args)).toEqual([
      { name: 'act', input: { a: 1 } },
      { name: 'act' },
      { providerConfigKey: 'k', connectionId: 'c', name: 'act' },
      { providerConfigKey: 'k', connectionId: 'c', name: 'act', input: 5 },
      {
        providerConfigKey: 'k',
        connectionId: 'c',
        name: 's',
        variant: 'v',
        options: { reset: true },
      },
      { providerConfigKey: 'k', names: ['s'] },
    ]);
  });

  it('that fail reject with what the trigger API answers', async () => {
    const { host } = recording({
      triggerAction: new GatewayError('action_script_failure', { payload: { a: 1 } }),
    });
    const body = `try { await svc.triggerAction('act'); } catch (error) { return [error.response.status, error.response.data]; }`;
    expect(await outputOf(sandbox, body, { host })).toEqual([
      424,
      { error_type: 'action_script_failure', payload: { a: 1 } },
    ]);
  });

  it('§4 zodValidateInput passes data on, or throws after a line per issue', async () => {
    const { host, asked } = recording({ log: null });
    const head = `const { z } = require('zod'); const schema = z.object({ a: z.number(), b: z.string() });`;
    const good = `return await svc.zodValidateInput({ zodSchema: schema, input: { a: 1, b: 'x', c: 2 } });`;
    expect(await outputOf(sandbox, good, { host, head })).toEqual({
      success: true,
      data: { a: 1, b: 'x' },
    });
    const bad = `await svc.zodValidateInput({ zodSchema: schema, input: { a: 'x' } });`;
    expect(await runGuest(sandbox, bad, { host, head })).toMatchObject({
      error: { kind: 'action_error', payload: { message: 'Invalid input provided' } },
    });
    expect(asked.flatMap(({ args }) => (args as { lines: LogLine[] }).lines)).toMatchObject([
      { level: 'error' },
      { level: 'error' },
    ]);
  });

  it('§4 tryAcquireLock, releaseLock and releaseAllLocks ask by key', async () => {
    const { host, asked } = recording({
      tryAcquireLock: true,
      releaseLock: false,
      releaseAllLocks: null,
    });
    const body = `return [await svc.tryAcquireLock({ key: 'k', ttlMs: 5 }), await svc.releaseLock({ key: 'k' }), await svc.releaseAllLocks()];`;
    expect(await outputOf(sandbox, body, { host })).toEqual([true, false, null]);
    expect(asked[0]?.args).toEqual({ key: 'k', ttlMs: 5 });
  });
});
