import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSandbox } from '../../../../../src/adapters/sandbox/sandbox.ts';
import { GatewayError } from '../../../../../src/kernel/errors.ts';
import type {
  HostCalls,
  HttpAnswer,
  HttpCall,
  LogLine,
  Sandbox,
} from '../../../../../src/ports/sandbox.ts';
import { outputOf, runGuest } from './guest.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await openSandbox();
});
afterAll(() => sandbox[Symbol.asyncDispose]());

/** A host that answers with JSON and keeps what it was asked. */
function recording(answers: Partial<Record<keyof HostCalls, unknown>>) {
  const asked: { method: string; args: unknown }[] = [];
  const host = Object.fromEntries(
    Object.entries(answers).map(([method, answer]) => [
      method,
      async (args: string) => {
        asked.push({ method, args: JSON.parse(args) as unknown });
        if (answer instanceof Error) throw answer;
        return JSON.stringify(answer);
      },
    ]),
  ) as HostCalls;
  return { host, asked };
}

const reply = (status: number, headers: Record<string, string> = {}): HttpAnswer => ({
  outcome: 'reply',
  status,
  statusText: 'Said',
  headers,
  url: 'https://crm.test/full?x=1',
});

function http(answer: HttpAnswer, body = '') {
  const calls: HttpCall[] = [];
  const host: HostCalls = {
    http: async (args) => {
      calls.push(JSON.parse(args) as HttpCall);
      return { json: JSON.stringify(answer), body };
    },
  };
  return { host, calls };
}

describe('requests', () => {
  it('cross with everything the caller said', async () => {
    const { host, calls } = http(reply(200), '{}');
    await outputOf(
      sandbox,
      `await svc.post({ endpoint: '/a', method: 'GET', params: { a: 1, b: [1, 'x'], c: undefined, d: null, e: new Date(0), f: false },
         headers: { 'X-Upper': 1, skip: undefined }, data: { d: new Date(0), u: undefined }, retries: 3, retryOn: [404],
         retryHeader: { at: 'x-reset' }, baseUrlOverride: 'https://o.test', connectionId: 'other', providerConfigKey: 'k' });`,
      { host },
    );
    expect(calls).toEqual([
      {
        method: 'POST',
        endpoint: '/a',
        params: { a: '1', b: '1,x', e: '1970-01-01T00:00:00.000Z', f: 'false' },
        headers: { 'x-upper': '1' },
        body: { kind: 'json', value: { d: '1970-01-01T00:00:00.000Z' } },
        bodyAs: 'text',
        retries: 3,
        retryOn: [404],
        retryHeader: { at: ['x-reset'], after: [] },
        baseUrlOverride: 'https://o.test',
        connectionId: 'other',
        providerConfigKey: 'k',
      },
    ]);
  });

  it.each([
    ['get', 'GET'],
    ['post', 'POST'],
    ['put', 'PUT'],
    ['patch', 'PATCH'],
    ['delete', 'DELETE'],
    ['proxy', 'GET'],
  ])('svc.%s sends %s', async (name, method) => {
    const { host, calls } = http(reply(200));
    await outputOf(sandbox, `await svc.${name}({ endpoint: 'x', data: { a: 1 } });`, { host });
    expect(calls[0]).toMatchObject({ method, body: { kind: method === 'GET' ? 'none' : 'json' } });
  });

  it.each([
    [`'a=b'`, { kind: 'text', text: 'a=b' }],
    [`new URLSearchParams({ a: 'b c' })`, { kind: 'form', text: 'a=b+c' }],
    [`Buffer.from('hi')`, { kind: 'bytes', base64: 'aGk=' }],
    [`new Uint8Array([1]).buffer`, { kind: 'bytes', base64: 'AQ==' }],
    [`new Blob(['hi'])`, { kind: 'bytes', base64: 'aGk=' }],
    [`[1, { a: null }]`, { kind: 'json', value: [1, { a: null }] }],
    [
      `{ file: Buffer.from('hi'), name: 'n' }`,
      {
        kind: 'fields',
        fields: [
          ['file', { base64: 'aGk=' }],
          ['name', { value: 'n' }],
        ],
      },
    ],
    [`null`, { kind: 'none' }],
    [`0`, { kind: 'json', value: 0 }],
  ])('a body %s', async (data, body) => {
    const { host, calls } = http(reply(200));
    await outputOf(sandbox, `await svc.post({ endpoint: 'x', data: ${data} });`, { host });
    expect(calls[0]?.body).toEqual(body);
  });

  it('a FormData becomes multipart bytes under a content-type with the boundary', async () => {
    const { host, calls } = http(reply(200));
    const body = `const form = new FormData(); form.append('a', 'é'); form.append('f', new Blob(['x'], { type: 'text/plain' }), 'f.txt');
      await svc.post({ endpoint: 'x', data: form });`;
    await outputOf(sandbox, body, { host });
    const [call] = calls;
    const boundary = /boundary=(.*)$/.exec(call?.headers?.['content-type'] ?? '')?.[1];
    const sent = Buffer.from(call?.body.kind === 'bytes' ? call.body.base64 : '', 'base64');
    const form = await new Response(sent, {
      headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    }).formData();
    expect(form.get('a')).toBe('é');
    expect(await (form.get('f') as File).text()).toBe('x');
    expect((form.get('f') as File).name).toBe('f.txt');
  });

  it.each([
    [
      'json',
      '{"a":[1]}',
      `[response.data, response.status, response.statusText, response.headers['x-a'], response.config.url, response.config.endpoint]`,
      [{ a: [1] }, 201, 'Said', '1', 'https://crm.test/full?x=1', 'x'],
    ],
    ['json', 'not json', 'response.data', 'not json'],
    ['json', '', 'response.data', ''],
    ['text', '{"a":1}', 'response.data', '{"a":1}'],
    [
      'arraybuffer',
      '\xff\x00a',
      '[Buffer.isBuffer(response.data), response.data.toString("hex")]',
      [true, 'ff0061'],
    ],
    ['blob', 'hi', 'response.data.size', 2],
  ])('an answer as %s: %j', async (type, body, read, expected) => {
    const { host } = http(reply(201, { 'x-a': '1' }), body);
    const code = `const response = await svc.get({ endpoint: 'x', responseType: '${type}' }); return ${read};`;
    expect(await outputOf(sandbox, code, { host })).toEqual(expected);
  });

  it.each([
    [404, 'ERR_BAD_REQUEST'],
    [503, 'ERR_BAD_RESPONSE'],
    [302, 'ERR_BAD_REQUEST'],
  ])('an answer of %i throws an error of the usual form', async (status, code) => {
    const { host } = http(reply(status, { 'retry-after': '3' }), '{"why":"x"}');
    const body = `try { await svc.get({ endpoint: 'x', params: { a: 1 } }); } catch (error) {
      return [error instanceof Error, error.isAxiosError, error.message, error.code, error.status, error.response.status,
        error.response.data, error.response.headers['retry-after'], error.config.url]; }`;
    expect(await outputOf(sandbox, body, { host })).toEqual([
      true,
      true,
      `Request failed with status code ${status}`,
      code,
      status,
      status,
      { why: 'x' },
      '3',
      'https://crm.test/full?x=1',
    ]);
  });

  it('no answer throws the same without a response', async () => {
    const { host } = http({
      outcome: 'failure',
      code: 'ECONNRESET',
      message: 'reset',
      url: 'https://crm.test/',
    });
    const body = `try { await svc.get({ endpoint: 'x' }); } catch (error) { return [error.isAxiosError, error.code, error.message, 'response' in error]; }`;
    expect(await outputOf(sandbox, body, { host })).toEqual([true, 'ECONNRESET', 'reset', false]);
  });

  it('a failure that is not caught says what the provider said', async () => {
    const { host } = http(
      reply(422, {
        'content-type': 'application/json',
        'x-ratelimit-left': '0',
        'set-cookie': 'secret',
      }),
      '{"why":"x"}',
    );
    expect(await runGuest(sandbox, `await svc.get({ endpoint: 'x' });`, { host })).toMatchObject({
      error: {
        kind: 'http',
        payload: { why: 'x' },
        upstream: {
          status: 422,
          headers: { 'content-type': 'application/json', 'x-ratelimit-left': '0' },
          body: { why: 'x' },
        },
      },
    });
    const text = http(reply(500), 'broken');
    expect(
      await runGuest(sandbox, `await svc.get({ endpoint: 'x' });`, { host: text.host }),
    ).toMatchObject({
      error: { kind: 'http', payload: { message: 'broken' } },
    });
    const none = http({ outcome: 'failure', code: 'ETIMEDOUT', message: 'late', url: '' });
    expect(
      await runGuest(sandbox, `await svc.get({ endpoint: 'x' });`, { host: none.host }),
    ).toMatchObject({
      error: { kind: 'network', code: 'ETIMEDOUT', message: 'late' },
    });
  });

  it('uncontrolledFetch gives a response, and an ActionError for a refused address', async () => {
    const host: HostCalls = {
      fetch: async (args) => ({
        json: JSON.stringify(reply(404, { a: 'b' })),
        body: `\xc3\xa9${JSON.stringify(args.length > 0)}`,
      }),
    };
    const body = `const r = await svc.uncontrolledFetch({ url: new URL('https://x.y/z'), method: 'POST', body: 'é' }); return [r.ok, r.status, r.headers.get('A'), await r.text()];`;
    expect(await outputOf(sandbox, body, { host })).toEqual([false, 404, 'b', 'étrue']);
    const { host: refusing } = recording({ fetch: new GatewayError('url_not_allowed') });
    expect(
      await runGuest(sandbox, `await svc.uncontrolledFetch({ url: 'http://10.0.0.1' });`, {
        host: refusing,
      }),
    ).toMatchObject({
      error: { kind: 'action_error', payload: { code: 'url_not_allowed' } },
    });
  });

  it('a call without an endpoint, or with a stream, is refused before it leaves', async () => {
    for (const config of ['{}', '{ endpoint: "x", responseType: "stream" }', 'undefined']) {
      const result = await runGuest(sandbox, `await svc.get(${config});`);
      expect(result).toMatchObject({ error: { kind: 'error', name: 'TypeError' } });
    }
  });
});

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
    [null, {}],
  ])('the token of %j', async (credentials, token) => {
    const { host } = recording({ getConnection: { credentials, metadata: null } });
    expect(
      await outputOf(
        sandbox,
        'return [await svc.getToken(), await svc.getMetadata(), await svc.getRawTokenResponse()];',
        { host },
      ),
    ).toEqual([token, {}, {}]);
  });

  it('metadata is written as an object, or not at all', async () => {
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
  it('may hold empty texts and zeros', async () => {
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

describe('records', () => {
  const sync = { type: 'sync' } as const;

  it('cross as one text per thousand, ids as text, the last of each id', async () => {
    const { host, asked } = recording({ batchSave: null, log: null });
    const body = `
      const rows = Array.from({ length: 2500 }, (_, n) => ({ id: n + 1, n, when: new Date(0), gone: undefined, _svc_metadata: { x: 1 } }));
      rows.push({ id: '1', n: 'last' });
      if (await svc.batchSave(rows, 'Contact') !== true) throw new Error('not true');`;
    const result = await runGuest(sandbox, body, { ...sync, host });
    expect(result.status).toBe('ok');
    const batches = asked
      .filter(({ method }) => method === 'batchSave')
      .map(({ args }) => args as { model: string; records: { id: string; n: unknown }[] });
    expect(batches.map(({ records }) => records.length)).toEqual([1000, 1000, 500]);
    expect(batches[0]?.records[0]).toEqual({ id: '2', n: 1, when: '1970-01-01T00:00:00.000Z' });
    expect(batches[2]?.records.at(-1)).toEqual({ id: '1', n: 'last' });
    expect(asked.filter(({ method }) => method === 'log')).toHaveLength(1);
  });

  it('are split by size, too', async () => {
    const { host, asked } = recording({ batchUpdate: null });
    const body = `await svc.batchUpdate(Array.from({ length: 8 }, (_, n) => ({ id: String(n), text: 'x'.repeat(900_000) })), 'Contact');`;
    expect((await runGuest(sandbox, body, { ...sync, host })).status).toBe('ok');
    expect(asked.length).toBe(3);
  });

  it('to delete are only ids', async () => {
    const { host, asked } = recording({ batchDelete: null });
    await runGuest(
      sandbox,
      `await svc.batchDelete([{ id: 'a', name: 'x' }, { id: 5 }], 'Contact');`,
      { ...sync, host },
    );
    expect(asked[0]?.args).toEqual({ model: 'Contact', records: [{ id: 'a' }, { id: '5' }] });
  });

  it.each(['[]', 'undefined', 'null'])('none at all: %s makes no call', async (rows) => {
    const result = await runGuest(
      sandbox,
      `if (await svc.batchSave(${rows}, 'Contact') !== true) throw 1;`,
      sync,
    );
    expect(result.status).toBe('ok');
  });

  it.each([
    ['{}', 'invalid_sync_record'],
    ['{ id: "" }', 'invalid_sync_record'],
    ['{ id: "\\0" }', 'invalid_sync_record'],
    ['{ id: null }', 'invalid_sync_record'],
    ['null', 'invalid_sync_record'],
    ['{ id: "x".repeat(256) }', 'invalid_sync_record'],
    ['{ id: "big", text: "x".repeat(1_000_000) }', 'record_too_large'],
  ])('a bad one, %s, saves nothing of the list', async (bad, code) => {
    const { host, asked } = recording({ batchSave: null });
    const body = `const rows = Array.from({ length: 1500 }, (_, n) => ({ id: 'r' + n })); rows.push(${bad}); await svc.batchSave(rows, 'Contact');`;
    expect(await runGuest(sandbox, body, { ...sync, host })).toMatchObject({
      error: { kind: 'error', code },
    });
    expect(asked).toEqual([]);
  });

  it('of an unknown model are refused, with the declared ones named', async () => {
    const options = { ...sync, context: { models: ['Contact', 'Deal'] } };
    const message = "The model 'Nope' is not included in the declared sync models: Contact, Deal.";
    for (const call of [
      `batchSave([{ id: '1' }], 'Nope')`,
      `trackDeletesStart('Nope')`,
      `trackDeletesEnd('Nope')`,
      `getRecordsById(['1'], 'Nope')`,
    ]) {
      expect(await runGuest(sandbox, `await svc.${call};`, options)).toMatchObject({
        error: { message },
      });
    }
  });

  it('are read back under the id as it was asked for', async () => {
    const { host } = recording({
      getRecordsById: [
        { id: '1', n: 1 },
        { id: 'b', n: 2 },
      ],
      saveCheckpoint: null,
    });
    const body = `const found = await svc.getRecordsById([1, 'b', 'c'], 'Contact');
      if (!(found instanceof Map) || found.get(1).n !== 1 || found.get('b').n !== 2 || found.has('c') || found.size !== 2) throw new Error('wrong');
      if ((await svc.getRecordsByIds(['b'], 'Contact')).get('b').n !== 2) throw new Error('alias');`;
    expect((await runGuest(sandbox, body, { ...sync, host })).status).toBe('ok');
  });

  it('are listed page by page', async () => {
    const pages = [
      { records: [{ id: '1' }, { id: '2' }], next_cursor: 'n' },
      { records: [{ id: '3' }], next_cursor: null },
    ];
    const cursors: unknown[] = [];
    const host: HostCalls = {
      listRecords: async (args) => {
        cursors.push((JSON.parse(args) as { cursor: unknown }).cursor);
        return JSON.stringify(pages[cursors.length - 1]);
      },
      saveCheckpoint: async (args) => {
        expect(args).toContain('1,2,3');
        return 'null';
      },
    };
    const body = `const ids = []; for await (const record of svc.listRecords('Contact')) ids.push(record.id); await svc.saveCheckpoint({ ids: ids.join() });`;
    expect((await runGuest(sandbox, body, { ...sync, host })).status).toBe('ok');
    expect(cursors).toEqual([null, 'n']);
  });

  it('delete tracking answers the deleted keys; the old name too', async () => {
    const { host } = recording({
      trackDeletesStart: null,
      trackDeletesEnd: { deletedKeys: ['a'] },
    });
    const body = `await svc.trackDeletesStart('Contact');
      for (const name of ['trackDeletesEnd', 'deleteRecordsFromPreviousExecutions']) if ((await svc[name]('Contact')).deletedKeys[0] !== 'a') throw new Error(name);`;
    expect((await runGuest(sandbox, body, { ...sync, host })).status).toBe('ok');
  });
});

describe('log', () => {
  async function linesOf(
    body: string,
    loggerLevel: 'debug' | 'warn' | 'off' = 'debug',
  ): Promise<LogLine[]> {
    const lines: LogLine[] = [];
    const host: HostCalls = {
      log: async (args) => {
        lines.push(...(JSON.parse(args) as { lines: LogLine[] }).lines);
        return 'null';
      },
    };
    const result = await runGuest(sandbox, body, { host, context: { loggerLevel } });
    expect(result.status).toBe('ok');
    return lines;
  }

  it('takes message, payload and level', async () => {
    const lines = await linesOf(
      `svc.log('a'); svc.log('b', { x: 1 }, { level: 'error' }); svc.log({ o: 1 }, { level: 'debug' }); svc.log('list', ['x', 'y']); svc.log('odd', { level: 'nope' });`,
    );
    expect(lines).toEqual([
      { level: 'info', message: 'a', payload: null },
      { level: 'error', message: 'b', payload: '{"x":1}' },
      { level: 'debug', message: '{"o":1}', payload: null },
      { level: 'info', message: 'list', payload: '{"0":"x","1":"y"}' },
      { level: 'info', message: 'odd', payload: null },
    ]);
  });

  it('drops what is below the level, which setLogger changes unless it is off', async () => {
    const body = `await svc.log('1'); await svc.log('2', { level: 'warn' }); svc.setLogger({ level: 'debug' }); await svc.log('3');
      svc.setLogger({ level: 'off' }); await svc.log('4', { level: 'error' }); svc.setLogger({ level: 'debug' }); await svc.log('5');`;
    expect((await linesOf(body, 'warn')).map(({ message }) => message)).toEqual(['2', '3']);
    expect(await linesOf(body, 'off')).toEqual([]);
  });

  it('hides authorization, cuts cycles, depth and size', async () => {
    const lines = await linesOf(`
      const cycle = { Authorization: 'secret', inner: { authorization: 'secret' } }; cycle.self = cycle;
      let deep = 'end'; for (let n = 0; n < 20; n++) deep = { deep };
      await svc.log('x', cycle); await svc.log('x', deep); await svc.log('y'.repeat(200_000)); await svc.log('e', new Error('why')); await svc.log('n', { n: 10n, f() {} });`);
    const [cycle, deep, long, error, odd] = lines;
    expect(cycle?.payload).toBe(
      '{"Authorization":"[redacted]","inner":{"authorization":"[redacted]"},"self":"[circular]"}',
    );
    expect(deep?.payload).toContain('[cut]');
    expect(long?.message.length).toBeLessThan(99_100);
    expect(long?.message).toContain('truncated');
    expect(JSON.parse(error?.payload ?? '')).toMatchObject({ name: 'Error', message: 'why' });
    expect(odd?.payload).toBe('{"n":"10"}');
  });

  it('crosses before the run ends, together, and never fails the run', async () => {
    let calls = 0;
    const host: HostCalls = {
      log: async () => {
        calls += 1;
        throw new Error('down');
      },
    };
    const result = await runGuest(sandbox, 'for (let n = 0; n < 50; n++) svc.log("x"); return 1;', {
      host,
    });
    expect(result).toEqual({ status: 'ok', output: '1' });
    expect(calls).toBe(1);
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

  it('zodValidateInput passes data on, or throws after a line per issue', async () => {
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

  it('locks are asked for by key', async () => {
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
