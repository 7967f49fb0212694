import { describe, expect, it } from 'vitest';
import type { HostCalls } from '#ports/sandbox.ts';
import { sharedSandbox } from '#test/support/worlds/shared-sandbox.ts';
import { recording, runGuest } from './guest.ts';

const sandbox = await sharedSandbox();

describe('records', () => {
  const sync = { type: 'sync' } as const;

  it('§7.2 calls of a thousand records each, ids as text, the last of each id', async () => {
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

  it('have zero, fractions, bigints and blanks as ids', async () => {
    const { host, asked } = recording({ batchSave: null });
    const rows = `[{ id: 0 }, { id: 0.1 + 0.2 }, { id: -5 }, { id: 9007199254740993n }, { id: ' ' }, { id: '  ' }]`;
    const body = `await svc.batchSave(${rows}, 'Contact');`;
    expect((await runGuest(sandbox, body, { ...sync, host })).status).toBe('ok');
    const ids = ['0', '0.30000000000000004', '-5', '9007199254740993', ' ', '  '];
    expect(asked[0]?.args).toEqual({ model: 'Contact', records: ids.map((id) => ({ id })) });
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
    ['{ id: "r1\\0" }', 'invalid_sync_record'],
    ['{ id: "r1\\ud800" }', 'invalid_sync_record'],
    ['{ id: 2 ** 53 }', 'invalid_sync_record'],
    ['{ id: 1e21 }', 'invalid_sync_record'],
    ['{ id: NaN }', 'invalid_sync_record'],
    ['{ id: true }', 'invalid_sync_record'],
    ['{ id: null }', 'invalid_sync_record'],
    ['null', 'invalid_sync_record'],
    ['{ id: "x".repeat(256) }', 'invalid_sync_record'],
    ['{ id: "big", text: "x".repeat(1_000_000) }', 'record_too_large'],
    ['{ id: "wide", text: "é".repeat(500_000) }', 'record_too_large'],
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

  it('§7.6 records are read back under the id as it was asked for', async () => {
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

  it('§8 both ends of delete tracking answer the deleted keys', async () => {
    const { host } = recording({
      trackDeletesStart: null,
      trackDeletesEnd: { deletedKeys: ['a'] },
      deleteRecordsFromPreviousExecutions: { deletedKeys: ['a'] },
    });
    const body = `await svc.trackDeletesStart('Contact');
      for (const name of ['trackDeletesEnd', 'deleteRecordsFromPreviousExecutions']) if ((await svc[name]('Contact')).deletedKeys[0] !== 'a') throw new Error(name);`;
    expect((await runGuest(sandbox, body, { ...sync, host })).status).toBe('ok');
  });
});
