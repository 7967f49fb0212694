/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-member-access, typescript/no-unsafe-return --
   a test looks into any answer, and expect.any() is anything */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  eventually,
  openSharedCrmWorld,
  succeeded,
  type CrmConnection,
  type SharedCrmWorld,
} from '#test/support/worlds/crm-world.ts';

let world: SharedCrmWorld;
beforeAll(async () => {
  world = await openSharedCrmWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const findRun = (id: string) =>
  eventually(
    () => world.gateway.call('GET', `/runs/${id}`),
    ({ status, body }) => status === 200 && body.data.status === 'succeeded',
  );

/** Runs the steps; resolves with the id of the run, which its first record contains. */
async function run(crm: CrmConnection, of: string, ...steps: object[]): Promise<string> {
  crm.account.script = steps;
  await crm.run('scripted', { model: 'Item' });
  const id = (await newest(crm, of)).run_id as string;
  await findRun(id);
  return id;
}
async function newest(crm: CrmConnection, id: string) {
  const path = `/records/history?model=Item&id=${id}`;
  return succeeded(await world.gateway.call('GET', path, { headers: crm.headers })).changes[0];
}
const save = (rows: Readonly<Record<string, string>>) => ({
  do: 'save',
  rows: Object.entries(rows).map(([id, name]) => ({ id, name })),
});
const remove = (id: string) => ({ do: 'delete', rows: [{ id }] });
const revert = async (id: string, isDry = false) =>
  succeeded(await world.gateway.call('POST', `/runs/${id}/revert`, { body: { dry_run: isDry } }))
    .data;
/** Names by id; null of what is deleted. */
async function stood(crm: CrmConnection): Promise<Record<string, unknown>> {
  const records = await crm.all('Item');
  return Object.fromEntries(
    records
      .map(({ id, name, _svc_metadata: meta }) => [id, meta.deleted_at === null ? name : null])
      .sort(),
  );
}

describe.each(['plain', 'sealed'] as const)('a run that is taken back, payloads %s', (mode) => {
  it('leaves what it was before, but for what another run has changed since', async () => {
    const key = world.gateway.accountKey;
    const path = `/environments/${world.environmentId}`;
    succeeded(await world.gateway.call('PATCH', path, { key, body: { payload_mode: mode } }));
    const crm = await world.connect();
    await run(
      crm,
      'a',
      save({ a: 'one', b: 'only', d: 'stays', e: 'one', f: 'was', g: 'one' }),
      remove('f'),
    );
    const wrong = await run(
      crm,
      'a',
      save({ a: 'two', c: 'new', e: 'two', f: 'again', g: 'two', h: 'brief' }),
      remove('d'),
      remove('h'),
      save({ e: 'one', g: 'two' }),
    );
    const later = await run(crm, 'g', save({ g: 'three' }));
    const before = await stood(crm);
    expect(before).toEqual({
      a: 'two',
      b: 'only',
      c: 'new',
      d: null,
      e: 'one',
      f: 'again',
      g: 'three',
      h: null,
    });

    const counts = { Item: { deleted: 2, updated: 1, restored: 1, unchanged: 2, left: 1 } };
    const left = [
      { model: 'Item', id: 'g', reason: 'changed_since', actor: `run:${later}`, run_id: later },
    ];
    const said = await revert(wrong, true);
    expect(said).toMatchObject({ run_id: wrong, revert_run_id: null, dry_run: true, counts, left });
    expect(await stood(crm)).toEqual(before);

    const done = await revert(wrong);
    expect(done).toMatchObject({ run_id: wrong, dry_run: false, counts, left });
    const revertId = done.revert_run_id as string;
    const ledger = succeeded(await world.gateway.call('GET', `/runs/${revertId}`)).data;
    expect(ledger).toMatchObject({
      kind: 'revert',
      function: 'scripted',
      status: 'succeeded',
      records_readable: true,
    });
    expect(await stood(crm)).toEqual({
      a: 'one',
      b: 'only',
      c: null,
      d: 'stays',
      e: 'one',
      f: null,
      g: 'three',
      h: null,
    });
    expect(await newest(crm, 'a')).toMatchObject({
      action: 'updated',
      actor: expect.stringMatching(/^key:/),
      run_id: revertId,
      version: 3,
    });

    const again = await revert(wrong);
    expect(again.counts.Item).toEqual({
      deleted: 0,
      updated: 0,
      restored: 0,
      unchanged: 2,
      left: 5,
    });
    // A revert is a run as well.
    expect((await revert(revertId)).counts.Item).toMatchObject({ left: 0 });
    expect(await stood(crm)).toEqual(before);
  });
});

describe('a run that cannot be taken back', () => {
  it('is refused with what is wrong', async () => {
    const crm = await world.connect();
    const none = await world.gateway.call('POST', '/runs/none/revert', { body: {} });
    expect([none.status, none.body.error.code]).toEqual([404, 'not_found']);
    const first = await run(crm, 'a', save({ a: 'one' }));
    succeeded(await world.gateway.call('DELETE', `/connections/${crm.id}?provider_config_key=crm`));
    const gone = await world.gateway.call('POST', `/runs/${first}/revert`, { body: {} });
    expect([gone.status, gone.body.error.code]).toEqual([404, 'unknown_connection']);
  });

  it('is one that still goes on', async () => {
    const crm = await world.connect();
    crm.account.stepsOpen = 0;
    succeeded(await crm.trigger('stepwise'));
    await crm.account.came('/steps/1');
    const path = `/runs?connection_id=${crm.id}&function=stepwise`;
    const listed = await eventually(
      () => world.gateway.call('GET', path),
      ({ body }) => body.data.length === 1,
    );
    const { id } = listed.body.data[0] as { id: string };
    const answer = await world.gateway.call('POST', `/runs/${id}/revert`, { body: {} });
    expect([answer.status, answer.body.error.code]).toEqual([409, 'conflict']);
    succeeded(await world.gateway.call('POST', `/runs/${id}/cancel`));
  });
});
