import { describe, expect, it } from 'vitest';
import type { RuntimeDeps } from '#modules/functions/runs/runtime/deps.ts';
import { ask, fakeHttp, fakeRuntime, ok, provider } from './fakes.ts';

describe('the connection', () => {
  describe('gives the new token in the same run', () => {
    /** A provider that takes only the last token, and a connection whose refresh gives the next one. */
    function refreshing() {
      let version = 1;
      const http = fakeHttp(ok({}, {}, 401), ok());
      const open: RuntimeDeps['connections']['open'] = async (name, options) => {
        if (options.forceRefresh || options.rejectedVersion === version) version += 1;
        const credentials = { type: 'OAUTH2', access_token: `token-${version}` };
        const connection = { credentials, connectionConfig: {}, metadata: {} };
        const view = async () => ({ credentials });
        return { provider, version, connection, integration: {}, limit: null, view };
      };
      const connections = { ...fakeRuntime().deps.connections, open };
      const runtime = fakeRuntime({ connections, http: http.client });
      const token = async () => {
        const { value } = await ask(runtime.calls, 'getConnection');
        return (value as { credentials: { access_token: string } }).credentials.access_token;
      };
      return { runtime, token, refresh: () => (version += 1) };
    }
    const call = { method: 'GET', endpoint: '/items', body: { kind: 'none' }, bodyAs: 'text' };

    it('after a 401 that was answered by a refresh', async () => {
      const { runtime, token } = refreshing();
      expect(await token()).toBe('token-1');
      await ask(runtime.calls, 'http', { ...call, retries: 1 });
      expect(await token()).toBe('token-2');
    });

    it('after forceRefresh, and where a call finds that it was refreshed', async () => {
      const { runtime, token, refresh } = refreshing();
      expect(await token()).toBe('token-1');
      await ask(runtime.calls, 'getConnection', { forceRefresh: true });
      expect(await token()).toBe('token-2');
      await ask(runtime.calls, 'getConnection', { forceRefresh: true, refreshToken: true });
      expect(await token()).toBe('token-3');
      refresh();
      await ask(runtime.calls, 'http', call);
      expect(await token()).toBe('token-4');
    });
  });

  it('keeps nothing that was read before metadata was written, or credentials refreshed', async () => {
    const gates: (() => void)[] = [];
    const before = fakeRuntime().deps.connections;
    let reads = 0;
    const open: RuntimeDeps['connections']['open'] = async (name, options) => {
      const read = ++reads;
      if (read === 1) await new Promise<void>((resolve) => gates.push(resolve));
      return { ...(await before.open(name, options)), view: async () => ({ read }) };
    };
    const { calls } = fakeRuntime({ connections: { ...before, open } });
    const slow = ask(calls, 'getConnection');
    await ask(calls, 'setMetadata', { metadata: { a: 1 } });
    gates.forEach((pass) => pass());
    expect((await slow).value).toEqual({ read: 1 });
    expect((await ask(calls, 'getConnection')).value).toEqual({ read: 2 });
  });
});

describe('secrets that a run was given', () => {
  const secret = 'first-token/of+it';
  const spoken = (...secrets: string[]) =>
    secrets.flatMap((one) => [one, encodeURIComponent(one), Buffer.from(one).toString('base64')]);
  const connections: RuntimeDeps['connections'] = {
    ...fakeRuntime().deps.connections,
    open: async ({ connectionId }) => {
      const credentials =
        connectionId === 'c-1'
          ? {
              type: 'OAUTH2',
              access_token: secret,
              raw: { id_token: 'id-of-raw', team: 'the team' },
            }
          : { type: 'BASIC', username: 'somebody', password: 'short' };
      return {
        provider,
        version: 1,
        connection: { credentials, connectionConfig: {}, metadata: {} },
        integration: { clientId: 'client-of-it', clientSecret: 'secret-of-client' },
        limit: null,
        view: async () => ({}),
      };
    },
    integration: async () => ({
      credentials: { type: 'OAUTH2', webhook_secret: 'webhook-secret' },
    }),
  };
  const variables = async () => [{ name: 'A', value: 'value of a variable' }];
  const lateSecrets = ['webhook-secret', 'value of a variable', 'somebody:short'];

  it('are masked in its log, its timeline and its requests, as they come in', async () => {
    const timeline: Parameters<RuntimeDeps['timeline']>[0][] = [];
    const runtime = fakeRuntime({
      connections,
      variables,
      timeline: (note) => timeline.push(note),
    });
    const { calls, host, lines, http } = runtime;
    const all = spoken(secret, 'secret-of-client', 'id-of-raw', ...lateSecrets);
    const log = (message: string) =>
      ask(calls, 'log', {
        lines: [{ level: 'warn', message, payload: JSON.stringify([message]) }],
      });
    const isClean = (text: string) => all.filter((one) => text.includes(one));
    await log(all.join());
    expect(isClean(lines[0]?.message ?? '')).toEqual(all);
    await ask(calls, 'getConnection');
    await ask(calls, 'getConnection', { connectionId: 'c-2' });
    await ask(calls, 'getIntegration', { include: ['credentials'] });
    await ask(calls, 'getEnvironmentVariables');
    await log(`${all.join()} the team client-of-it`);
    expect(isClean(JSON.stringify(lines[1]))).toEqual([]);
    expect(lines[1]?.message).toContain('the team client-of-it');
    await ask(calls, 'saveCheckpoint', { checkpoint: { at: secret } });
    await ask(calls, 'http', {
      method: 'GET',
      endpoint: `/bot${encodeURIComponent(secret)}/send`,
      body: { kind: 'none' },
      bodyAs: 'text',
    });
    expect(isClean(JSON.stringify([timeline, http]))).toEqual([]);
    expect(http[0]?.url).toBe('https://api.crm.test/v1/bot[removed]/send');
    const failure = {
      kind: 'error',
      name: 'Error',
      message: all.join(),
      payload: { all },
    } as const;
    expect(isClean(JSON.stringify(host.mask.data(failure)))).toEqual([]);
  });
});
