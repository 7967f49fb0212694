import { describe, expect, it, vi } from 'vitest';
import { GatewayError } from '#kernel/errors.ts';
import type { Json } from '#kernel/stable-json.ts';
import { RunTimeBudget } from '#modules/functions/runs/runtime/run-time-budget.ts';
import type { RecordReader } from '#modules/records/read/reader.ts';
import type { RecordWriter } from '#modules/records/write/writer.ts';
import { hostMethods } from '#ports/sandbox.ts';
import { movedClock } from '#test/support/fakes/clock.ts';
import { ask, fakeRuntime, scope } from './fakes.ts';

describe('the table', () => {
  it('holds every method for a sync, and no record methods for others', () => {
    const of = (type: 'sync' | 'action') =>
      Object.keys(fakeRuntime({ run: { ...scope, type } }).calls).sort();
    expect(of('sync')).toEqual([...hostMethods].sort());
    const missing = hostMethods.filter((name) => !of('action').includes(name));
    expect(missing).toEqual([
      'batchSave',
      'batchUpdate',
      'batchDelete',
      'trackDeletesStart',
      'trackDeletesEnd',
      'deleteRecordsFromPreviousExecutions',
      'getRecordsById',
      'listRecords',
      'setMergingStrategy',
    ]);
  });

  it('§4 every method is refused once the run is over, with the reason', async () => {
    const cancelled = fakeRuntime({ signal: AbortSignal.abort() });
    const late = fakeRuntime({ signal: AbortSignal.abort(new GatewayError('execution_timeout')) });
    for (const method of hostMethods) {
      await expect(ask(cancelled.calls, method)).rejects.toMatchObject({ code: 'script_aborted' });
      await expect(ask(late.calls, method)).rejects.toMatchObject({ code: 'execution_timeout' });
    }
  });
});

describe('the connection', () => {
  it('§4 getConnection is kept for a minute, per pair; options go past that', async () => {
    const runtime = fakeRuntime();
    const read = async (args = {}) =>
      ((await ask(runtime.calls, 'getConnection', args)).value as { read: number }).read;
    expect([await read(), await read()]).toEqual([1, 1]);
    expect(await read({ connectionId: 'c-2' })).toBe(2);
    expect(await read({ forceRefresh: true })).toBe(3);
    expect(runtime.opened[2]).toEqual({
      name: { integrationKey: 'crm', connectionId: 'c-1' },
      options: { forceRefresh: true, refreshToken: false },
    });
    expect(await read()).toBe(3);
    runtime.advance(60_000);
    expect(await read()).toBe(4);
  });

  it('§4 getMetadata reads again after metadata was written, also when that failed', async () => {
    const connections = {
      ...fakeRuntime().deps.connections,
      setMetadata: vi.fn(async () => undefined),
      updateMetadata: vi.fn(() => Promise.reject(new GatewayError('conflict'))),
    };
    let reads = 0;
    connections.open = async () => {
      reads += 1;
      return {
        ...(await fakeRuntime().deps.connections.open(
          { integrationKey: '', connectionId: '' },
          { forceRefresh: false, refreshToken: false },
        )),
        view: async () => ({}),
      };
    };
    const { calls } = fakeRuntime({ connections });
    await ask(calls, 'getConnection');
    await ask(calls, 'setMetadata', { metadata: { a: 1 } });
    await ask(calls, 'getConnection');
    await expect(ask(calls, 'updateMetadata', { metadata: {} })).rejects.toMatchObject({
      code: 'conflict',
    });
    await ask(calls, 'getConnection');
    await ask(calls, 'getConnection');
    expect(reads).toBe(3);
    expect(connections.setMetadata).toHaveBeenCalledWith({ a: 1 });
  });

  it('§4 getIntegration is kept for ten minutes per set of extras', async () => {
    const integration = vi.fn(async (include: readonly string[]) => ({ include: [...include] }));
    const runtime = fakeRuntime({
      connections: { ...fakeRuntime().deps.connections, integration },
    });
    const read = (include: string[]) => ask(runtime.calls, 'getIntegration', { include });
    await read(['webhook', 'credentials']);
    expect((await read(['credentials', 'webhook'])).value).toEqual({
      include: ['credentials', 'webhook'],
    });
    await read([]);
    expect(integration).toHaveBeenCalledTimes(2);
    runtime.advance(600_001);
    await read([]);
    expect(integration).toHaveBeenCalledTimes(3);
    await expect(read(['secrets'])).rejects.toMatchObject({ code: 'invalid_request' });
  });

  it('§4 getEnvironmentVariables are those of the environment', async () => {
    expect((await ask(fakeRuntime().calls, 'getEnvironmentVariables')).value).toEqual([
      { name: 'A', value: 'b' },
    ]);
  });
});

describe('checkpoints', () => {
  it('pass through when flat', async () => {
    const checkpoint = {
      get: vi.fn(async () => ({ a: 0 })),
      save: vi.fn(async () => undefined),
      clear: vi.fn(async () => undefined),
    };
    const { calls } = fakeRuntime({ checkpoint });
    expect((await ask(calls, 'getCheckpoint')).value).toEqual({ a: 0 });
    await ask(calls, 'saveCheckpoint', { checkpoint: { a: '', b: 0, c: false } });
    expect(checkpoint.save).toHaveBeenCalledWith({ a: '', b: 0, c: false });
    await ask(calls, 'clearCheckpoint');
    expect(checkpoint.clear).toHaveBeenCalledOnce();
  });

  it('§9 four fifths of the time: a checkpoint is saved, and then ends the run', async () => {
    const save = vi.fn(async () => undefined);
    const checkpoint = { get: async () => null, save, clear: async () => undefined };
    const clock = movedClock();
    const slot = new RunTimeBudget(clock, 10_000_000);
    const { calls } = fakeRuntime({ checkpoint, budget: slot });
    await ask(calls, 'saveCheckpoint', { checkpoint: { n: 1 } });
    clock.forward(8_000_000);
    const late = ask(calls, 'saveCheckpoint', { checkpoint: { n: 2 } });
    await expect(late).rejects.toMatchObject({ code: 'run_interrupted' });
    expect(save).toHaveBeenLastCalledWith({ n: 2 });
  });

  it.each([[{ a: {} }], [{ a: null }], [{ a: [] }], [{ a: 'x'.repeat(17_000) }]])(
    '§9 flat, §16 the size of a checkpoint: refused: %j',
    async (checkpoint) => {
      await expect(
        ask(fakeRuntime().calls, 'saveCheckpoint', { checkpoint }),
      ).rejects.toMatchObject({
        code: 'invalid_checkpoint',
        message: expect.stringMatching(/^Invalid checkpoint: /) as string,
      });
    },
  );

  it.each([[[]], ['x'], [null]])('that are no objects are refused: %j', async (checkpoint) => {
    await expect(ask(fakeRuntime().calls, 'saveCheckpoint', { checkpoint })).rejects.toMatchObject({
      code: 'invalid_request',
    });
  });
});

describe('records', () => {
  function withWriter(writer: Partial<RecordWriter>, reader: Partial<RecordReader> = {}) {
    return fakeRuntime({
      records: { writer: writer as RecordWriter, reader: reader as RecordReader },
    }).calls;
  }
  const stream = {
    environmentUid: 'env-1',
    connectionUid: 'uid-1',
    model: 'Deal',
    variant: 'base',
    integration: 'crm',
    connectionId: 'c-1',
  };
  const origin = { runId: 'run-1', attempt: 1, syncName: 'contacts', actor: 'run:run-1' };

  it.each([
    ['batchSave', 'save'],
    ['batchUpdate', 'update'],
    ['batchDelete', 'delete'],
  ] as const)('%s goes to the stream of the model, from this run', async (call, method) => {
    const write = vi.fn(async () => undefined);
    const records: Json[] = [{ id: '1', a: null }];
    await ask(withWriter({ [method]: write }), call, { model: 'Deal', records });
    expect(write).toHaveBeenCalledWith(stream, origin, records);
  });

  it.each([
    ['batchSave', 'save'],
    ['batchUpdate', 'update'],
    ['batchDelete', 'delete'],
  ] as const)(
    'of one id in one call of %s are reported in the log of the run: the last counts',
    async (call, method) => {
      const writer = { [method]: async () => undefined } as unknown as RecordWriter;
      const { calls, lines } = fakeRuntime({ records: { writer, reader: {} as RecordReader } });
      await ask(calls, call, { model: 'Deal', records: [{ id: 'a' }, { id: '1' }] });
      expect(lines).toEqual([]);
      const records = ['a', 'b', 'a', '1', 1, 'a', 'b'].map((id) => ({ id }));
      await ask(calls, call, { model: 'Deal', records });
      expect(lines).toEqual([
        {
          level: 'warn',
          message: `${call} was given records of Deal with the same id: the last of each counts. Ids: a, 1, b`,
          payload: null,
        },
      ]);
    },
  );

  it('of an unknown model, or in no list, never reach the writer', async () => {
    const calls = withWriter({});
    await expect(ask(calls, 'batchSave', { model: 'Nope', records: [] })).rejects.toMatchObject({
      code: 'unknown_model',
      message: "The model 'Nope' is not included in the declared sync models: Contact, Deal.",
    });
    for (const args of [
      { model: 'Deal' },
      { model: 'Deal', records: {} },
      { model: 5, records: [] },
      null,
      { model: 'Deal', records: new Array(1001).fill({}) },
    ]) {
      await expect(ask(calls, 'batchSave', args)).rejects.toMatchObject({
        code: 'invalid_request',
      });
    }
  });

  it('a pass that was not started is an error that names the model', async () => {
    const passStart = vi.fn(async () => undefined);
    const calls = withWriter({
      passStart,
      passEnd: () => Promise.reject(new GatewayError('delete_pass_missing')),
    });
    await ask(calls, 'trackDeletesStart', { model: 'Deal' });
    expect(passStart).toHaveBeenCalledWith(stream, origin);
    await expect(ask(calls, 'trackDeletesEnd', { model: 'Deal' })).rejects.toMatchObject({
      code: 'delete_pass_missing',
      message: "No track deletes starting point found for model 'Deal'.",
    });
    const ended = withWriter({ passEnd: async () => ({ deletedKeys: ['a'] }) });
    expect((await ask(ended, 'trackDeletesEnd', { model: 'Deal' })).value).toEqual({
      deletedKeys: ['a'],
    });
  });

  it('read back say when they are deleted', async () => {
    const calls = withWriter({
      lookup: async () => [
        { id: '1', payload: { id: '1', a: 1 }, deletedAt: null },
        { id: '2', payload: { id: '2' }, deletedAt: Date.UTC(2026, 0, 1) * 1000 },
      ],
    });
    expect((await ask(calls, 'getRecordsById', { model: 'Deal', ids: ['1', '2'] })).value).toEqual([
      { id: '1', a: 1 },
      { id: '2', _metadata: { deleted: true, deleted_at: '2026-01-01T00:00:00.000000+00:00' } },
    ]);
  });

  it('are listed as the page of the reader, once it shows what the run has saved', async () => {
    const page = vi.fn(async () => ({
      body: Buffer.from('{"records":[{"id":"1"}],"next_cursor":"n"}'),
      records: 1,
      nextCursor: 'n',
      hasStream: true,
    }));
    const steps: string[] = [];
    const calls = withWriter(
      {
        save: async () => void steps.push('save'),
        barrier: async () => {
          steps.push('barrier');
          const counts = { added: 0, updated: 0, deleted: 0, unchanged: 0 };
          return { counts, partition: 3, offset: 7, failures: [] };
        },
      },
      { page, published: async (at, next) => void steps.push(`published ${at},${next}`) },
    );
    const list = () => ask(calls, 'listRecords', { model: 'Deal', cursor: null, limit: 100 });
    const { value } = await list();
    await list();
    await ask(calls, 'batchSave', { model: 'Deal', records: [{ id: '1' }] });
    await list();
    // An earlier attempt may have saved; after that, only what this one saves is waited for.
    const shown = ['barrier', 'published 3,7'];
    expect(steps).toEqual([...shown, 'save', ...shown]);
    expect(value).toEqual({ records: [{ id: '1' }], next_cursor: 'n' });
    expect(page).toHaveBeenCalledWith({
      stream,
      cursor: null,
      limit: 100,
      modifiedAfter: null,
      actions: null,
      ids: null,
    });
  });

  it('§4 setMergingStrategy is passed on', async () => {
    const setMergingStrategy = vi.fn(async () => undefined);
    await ask(withWriter({ setMergingStrategy }), 'setMergingStrategy', {
      model: 'Deal',
      strategy: 'ignore_if_modified_after',
    });
    expect(setMergingStrategy).toHaveBeenCalledWith(stream, origin, 'ignore_if_modified_after');
  });
});

describe('the log', () => {
  const line = (message: string) => ({ level: 'info', message, payload: null });

  it('§16 the log of a run: lines until it is full, which is said once', async () => {
    const { calls, lines } = fakeRuntime();
    for (let call = 0; call < 12; call++) {
      await ask(calls, 'log', {
        lines: Array.from({ length: 1000 }, (_, n) => line(`${call}-${n}`)),
      });
    }
    expect(lines).toHaveLength(10_001);
    expect(lines.at(-1)?.message).toContain('is full');
    await expect(
      ask(fakeRuntime().calls, 'log', { lines: [{ level: 'loud' }] }),
    ).rejects.toMatchObject({ code: 'invalid_request' });
  });

  it('is limited in size, too', async () => {
    const { calls, lines } = fakeRuntime();
    for (let call = 0; call < 120; call++)
      await ask(calls, 'log', { lines: [line('x'.repeat(100_000))] });
    expect(lines.length).toBeLessThan(110);
  });
});

describe('other functions', () => {
  it('§4 triggerAction: of the same connection unless named, one level deeper, at most eight', async () => {
    const triggerAction = vi.fn(async () => ({ done: true }));
    const { calls, deps } = fakeRuntime({ triggerAction, run: { ...scope, depth: 7 } });
    expect((await ask(calls, 'triggerAction', { name: 'act', input: 1 })).value).toEqual({
      output: { done: true },
    });
    expect(triggerAction).toHaveBeenCalledWith(
      { integrationKey: 'crm', connectionId: 'c-1', name: 'act', input: 1, depth: 8 },
      deps.signal,
    );
    const deepest = fakeRuntime({ triggerAction, run: { ...scope, depth: 8 } });
    await expect(ask(deepest.calls, 'triggerAction', { name: 'act' })).rejects.toMatchObject({
      code: 'resource_capped',
    });
  });

  it('that have no output answer none', async () => {
    const { calls } = fakeRuntime({ triggerAction: async () => undefined });
    expect((await ask(calls, 'triggerAction', { name: 'act' })).value).toEqual({});
  });

  it('§4 triggerSync and startSync', async () => {
    const syncs = { trigger: vi.fn(async () => undefined), start: vi.fn(async () => undefined) };
    const { calls } = fakeRuntime({ syncs });
    await ask(calls, 'triggerSync', {
      providerConfigKey: 'k',
      connectionId: 'c',
      name: 's',
      options: { reset: true },
    });
    await ask(calls, 'startSync', { providerConfigKey: 'k', names: ['s'] });
    expect(syncs.trigger).toHaveBeenCalledWith(
      { integrationKey: 'k', connectionId: 'c', name: 's', variant: null },
      { reset: true },
    );
    expect(syncs.start).toHaveBeenCalledWith({ integrationKey: 'k', connectionId: null }, ['s']);
  });
});

describe('locks', () => {
  it('§4 locks are held by the run until it gives them back or ends', async () => {
    const first = fakeRuntime();
    const second = fakeRuntime({
      coordination: first.deps.coordination,
      run: { ...scope, runId: 'run-2' },
    });
    const acquire = async (calls: typeof first.calls, key: string) =>
      (await ask(calls, 'tryAcquireLock', { key, ttlMs: 60_000 })).value;
    expect(await acquire(first.calls, 'a')).toBe(true);
    expect(await acquire(first.calls, 'a')).toBe(true);
    expect(await acquire(second.calls, 'a')).toBe(false);
    expect((await ask(second.calls, 'releaseLock', { key: 'a' })).value).toBe(false);
    expect((await ask(first.calls, 'releaseLock', { key: 'a' })).value).toBe(true);
    expect(await acquire(second.calls, 'a')).toBe(true);
    await second.host[Symbol.asyncDispose]();
    expect(await acquire(first.calls, 'a')).toBe(true);
    await expect(ask(first.calls, 'tryAcquireLock', { key: '', ttlMs: 5 })).rejects.toMatchObject({
      code: 'invalid_request',
    });
    await expect(ask(first.calls, 'tryAcquireLock', { key: 'x', ttlMs: 0 })).rejects.toMatchObject({
      code: 'invalid_request',
    });
  });
});
