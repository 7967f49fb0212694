import { expect } from 'vitest';

/** A row of a sync (see rows.ts): what its body returns, kept in the metadata of the connection. */
export interface SyncRow {
  /** Section and row. */
  readonly row: string;
  /** Models are named M0, M1, … by the row's number: `M` stands for its own. */
  readonly body: string;
  readonly expected: unknown;
  /** How the run ends; default: well. */
  readonly fails?: true;
}

const caught = (code: string): string =>
  `try { ${code}; return 'nothing thrown'; } catch (error) { return error.message; }`;
const one = (id: string): string => `(await svc.getRecordsById(['${id}'], M)).get('${id}')`;

export const syncRows: readonly SyncRow[] = [
  { row: '§2.1 exec: what it returns is ignored', body: `return 'ignored';`, expected: 'ignored' },
  {
    row: '§4 handle of syncs: variant and lastSyncDate before the first success',
    body: `return [svc.variant, svc.lastSyncDate ?? null];`,
    expected: ['base', null],
  },
  {
    row: '§7.1 an unknown model is refused by name',
    body: caught(`await svc.batchSave([{ id: '1' }], 'Other')`),
    expected: expect.stringMatching(
      /^The model 'Other' is not included in the declared sync models: M\d+\.$/,
    ),
  },
  {
    row: '§7.1 a record without an id fails the whole call',
    body: caught(`await svc.batchSave([{ id: 'good' }, { name: 'bad' }], M)`).replace(
      'return error.message',
      `return (await svc.getRecordsById(['good'], M)).size`,
    ),
    expected: 0,
  },
  {
    row: '§7.1 numbers as ids count as their text',
    body: `await svc.batchSave([{ id: 7, n: 1 }, { id: 0 }, { id: ' ' }], M); return [...(await svc.getRecordsById([7, '7', 0, '0', ' ', 'a\\0'], M)).keys()];`,
    expected: [7, '7', 0, '0', ' '],
  },
  {
    row: '§7.1 an id whose text another id could have fails the whole call',
    body: `const codes = []; for (const id of ['a\\0b', 'a\\ud800', 2 ** 53, 1e21, NaN, Infinity]) {
      try { await svc.batchSave([{ id: 'good' }, { id }], M); } catch (error) { codes.push(error.code); } }
      return [codes.length, [...new Set(codes)], (await svc.getRecordsById(['good', 2 ** 53], M)).size];`,
    expected: [6, ['invalid_sync_record'], 0],
  },
  {
    row: '§7.1 a value passes through JSON; _svc_metadata is removed',
    body: `await svc.batchSave([{ id: '1', when: new Date(0), gone: undefined, f() {}, _svc_metadata: {} }], M); return ${one('1')};`,
    expected: { id: '1', when: '1970-01-01T00:00:00.000Z' },
  },
  {
    row: '§7.1 an empty or missing list resolves true',
    body: `return [await svc.batchSave([], M), await svc.batchSave(undefined, M)];`,
    expected: [true, true],
  },
  {
    row: '§7.2 a list of any length is accepted',
    body: `await svc.batchSave(Array.from({ length: 1500 }, (_, n) => ({ id: String(n) })), M); return (await svc.getRecordsById(['0', '1499', '1500'], M)).size;`,
    expected: 2,
  },
  {
    row: '§7.3 batchSave replaces a known record whole',
    body: `await svc.batchSave([{ id: '1', a: 1, b: 2 }], M); await svc.batchSave([{ id: '1', a: 3 }], M); return ${one('1')};`,
    expected: { id: '1', a: 3 },
  },
  {
    row: '§7.3 of duplicate ids in one call the last stays',
    body: `await svc.batchSave([{ id: '1', n: 1 }, { id: '1', n: 2 }], M); return ${one('1')};`,
    expected: { id: '1', n: 2 },
  },
  {
    row: '§7.4 batchUpdate merges deeply, replaces lists, ignores unknown ids, takes null',
    body: `await svc.batchSave([{ id: '1', deep: { a: 1, b: 2 }, list: [1, 2], keep: 1, gone: 1 }], M); await svc.batchUpdate([{ id: '1', deep: { b: 3 }, list: [9], gone: null }, { id: 'none', x: 1 }], M); return [${one('1')}, (await svc.getRecordsById(['none'], M)).size];`,
    expected: [{ id: '1', deep: { a: 1, b: 3 }, list: [9], keep: 1, gone: null }, 0],
  },
  {
    row: '§7.5 batchDelete marks, keeps the payload, and a save brings it back',
    body: `await svc.batchSave([{ id: '1', a: 1 }], M); await svc.batchDelete([{ id: '1' }], M); const gone = ${one('1')}; await svc.batchSave([{ id: '1', a: 1 }], M); const back = ${one('1')}; return [gone.a, gone._metadata.deleted, '_metadata' in back];`,
    expected: [1, true, false],
  },
  {
    row: '§7.4 a deleted record that is updated is merged into what it was and lives again',
    body: `await svc.batchSave([{ id: '1', a: 1 }], M); await svc.batchDelete([{ id: '1' }], M); await svc.batchUpdate([{ id: '1', b: 2 }], M); return ${one('1')};`,
    expected: { id: '1', a: 1, b: 2 },
  },
  {
    row: '§7.6 getRecordsByIds is the same; missing ids are absent',
    body: `await svc.batchSave([{ id: '1' }], M); return [...(await svc.getRecordsByIds(['1', '2'], M)).keys()];`,
    expected: ['1'],
  },
  {
    row: '§7.7 a merging strategy of another name is refused',
    body: caught(`await svc.setMergingStrategy({ strategy: 'newest' }, M)`),
    expected: 'The strategy is override or ignore_if_modified_after',
  },
  {
    row: '§8.2 trackDeletesEnd deletes what was not saved since the start, unchanged saves count as seen',
    body: `await svc.batchSave([{ id: '1' }, { id: '2' }], M); await svc.trackDeletesStart(M); await svc.batchSave([{ id: '1' }], M); return svc.trackDeletesEnd(M);`,
    expected: { deletedKeys: ['2'] },
  },
  {
    row: '§8.2 an end without a start is an error',
    body: caught(`await svc.trackDeletesEnd(M)`),
    expected: expect.stringMatching(/^No track deletes starting point found for model 'M\d+'\.$/),
  },
  {
    row: '§8.4 an end after an empty dataset deletes everything',
    body: `await svc.batchSave([{ id: '1' }], M); await svc.trackDeletesStart(M); return svc.trackDeletesEnd(M);`,
    expected: { deletedKeys: ['1'] },
  },
  {
    row: '§8 the deprecated helper keeps what the run saved, whatever pass its code has opened since',
    body: `await svc.batchSave([{ id: '1' }], M); await svc.trackDeletesStart(M); return svc.deleteRecordsFromPreviousExecutions(M);`,
    expected: { deletedKeys: [] },
  },
  {
    row: '§9 a checkpoint is flat: dates, null, lists and objects are refused',
    body: `const refused = []; for (const value of [new Date(), null, [1], { a: 1 }]) { try { await svc.saveCheckpoint({ value }); } catch (error) { refused.push(error.message.startsWith('Invalid checkpoint')); } } return refused;`,
    expected: [true, true, true, true],
  },
  {
    row: '§9 null at first; saving replaces the whole; zeros and empty texts stay; clearing empties',
    body: `const seen = [await svc.getCheckpoint()]; await svc.saveCheckpoint({ a: 1, b: 'x' }); await svc.saveCheckpoint({ zero: 0, empty: '', no: false }); seen.push(await svc.getCheckpoint()); await svc.clearCheckpoint(); seen.push(await svc.getCheckpoint()); return seen;`,
    expected: [null, { zero: 0, empty: '', no: false }, null],
  },
  {
    row: '§10 updateMetadata replaces top-level keys whole, and the next read shows it',
    body: `await svc.updateMetadata({ ownOfRow: { a: 1, b: 2 } }); await svc.updateMetadata({ ownOfRow: { a: 3 } }); return (await svc.getMetadata()).ownOfRow;`,
    expected: { a: 3 },
  },
  {
    row: '§11 log takes any arguments and resolves',
    body: `await svc.log('text', { a: 1 }); await svc.log({ an: 'object' }); await svc.log('x', { level: 'error' }); svc.setLogger({ level: 'off' }); await svc.log('dropped', { level: 'error' }); return 'logged';`,
    expected: 'logged',
  },
  {
    row: '§4 listRecords: every record with its metadata, deleted ones and those of this run too',
    body: `await svc.batchSave([{ id: '1' }, { id: '2' }], M); await svc.batchDelete([{ id: '1' }], M); const rows = []; for await (const row of svc.listRecords(M)) rows.push([row.id, row._svc_metadata.last_action]); return rows;`,
    expected: [
      ['2', 'ADDED'],
      ['1', 'DELETED'],
    ],
  },
  {
    row: '§6 cursor: pages until there is no next cursor, on_page after the loop body',
    body: `const seen = []; for await (const page of svc.paginate({ endpoint: '/contacts', paginate: { type: 'cursor', cursor_path_in_response: 'next', cursor_name_in_request: 'cursor', limit_name_in_request: 'limit', limit: 2, response_path: 'data', on_page: async ({ nextPageParam }) => { seen.push('then ' + nextPageParam); } } })) seen.push(page.length); return seen;`,
    expected: [2, 'then 2', 1, 'then undefined'],
  },
  {
    row: '§6 offset: a short page is the last',
    body: `const sizes = []; for await (const page of svc.paginate({ endpoint: '/deals', paginate: { type: 'offset', offset_name_in_request: 'offset', limit_name_in_request: 'limit', limit: 2, response_path: 'page.items' } })) sizes.push(page.length); return sizes;`,
    expected: [2, 1],
  },
  {
    row: '§6 link: by the header until there is none',
    body: `const sizes = []; for await (const page of svc.paginate({ endpoint: '/notes', paginate: { type: 'link', link_rel_in_response_header: 'next' } })) sizes.push(page.length); return sizes;`,
    expected: [2, 1],
  },
  {
    row: '§12.3 a run that throws keeps what it saved and its checkpoint',
    body: `await svc.batchSave([{ id: 'kept' }], M); await svc.saveCheckpoint({ at: 1 }); await svc.updateMetadata({ [M]: 'threw' }); throw new Error('on purpose');`,
    expected: 'threw',
    fails: true,
  },
];
