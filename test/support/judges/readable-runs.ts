import { expect } from 'vitest';
import type { GatewayAccess } from '../processes/gateway.ts';
import { eventually, succeeded, type CrmConnection } from '../worlds/crm-world.ts';

interface ShownRun {
  readonly id: string;
  readonly status: string;
  readonly records_readable: boolean | null;
}

interface ShownSync {
  /** Absent until a run has ended. */
  readonly finishedAt?: string;
  readonly records_readable: boolean | null;
}

/** The newest run of the sync `scripted` of a connection, as the list, its own page and the status of the sync show it. */
function scriptedRuns(gateway: GatewayAccess, { id }: CrmConnection) {
  return {
    succeeded: async (): Promise<ShownRun[]> => {
      const query = `connection_id=${id}&function=scripted&status=succeeded`;
      return (succeeded(await gateway.call('GET', `/runs?${query}`)) as { data: ShownRun[] }).data;
    },
    status: async (): Promise<ShownSync> => {
      const query = `syncs=scripted&provider_config_key=crm&connection_id=${id}`;
      const answer = await gateway.call('GET', `/sync/status?${query}`);
      return (succeeded(answer) as { syncs: [ShownSync] }).syncs[0];
    },
    one: async (runId: string): Promise<ShownRun> =>
      (succeeded(await gateway.call('GET', `/runs/${runId}`)) as { data: ShownRun }).data,
  };
}

const rowsOfRun = 5;

/**
 * Runs the sync so many times; each time, once `asked` says that the records of the run can be read, the gateways of
 * `reading` must have all of them with the next call.
 */
export async function judgeReadable(
  crm: CrmConnection,
  runs: number,
  { asked, reading }: { readonly asked: GatewayAccess; readonly reading: readonly GatewayAccess[] },
): Promise<void> {
  const shown = scriptedRuns(asked, crm);
  const isReadable = (of: { readonly records_readable: boolean | null }): boolean =>
    of.records_readable === true;
  const byRuns = async (revision: number): Promise<void> => {
    const [run] = await eventually(shown.succeeded, ({ length }) => length === revision);
    const look = async () =>
      revision % 2 === 0 ? shown.one(run!.id) : (await shown.succeeded())[0]!;
    await eventually(look, isReadable);
  };
  // The ledger of runs may follow later than the records: this is the quicker one.
  const byStatus = (former: ShownSync) =>
    eventually(
      shown.status,
      (status) => status.finishedAt !== former.finishedAt && isReadable(status),
    );
  for (let revision = 1; revision <= runs; revision += 1) {
    const rows = Array.from({ length: rowsOfRun }, (_, n) => ({ id: `${revision}-${n}` }));
    crm.account.script = [{ do: 'save', rows }];
    const former = await shown.status();
    succeeded(await crm.trigger('scripted'));
    await (revision % 3 === 0 ? byRuns(revision) : byStatus(former));
    for (const gateway of reading) {
      const path = '/records?model=Item&limit=1000';
      const { records } = succeeded(await gateway.call('GET', path, { headers: crm.headers })) as {
        records: unknown[];
      };
      expect(records).toHaveLength(rowsOfRun * revision);
    }
  }
}

/**
 * Runs the sync until the projector, which hears of a pause later than the caller, has stopped; a run that it still took
 * has its records in the page.
 * @returns the number of runs
 */
async function runUntilBehind(crm: CrmConnection, gateway: GatewayAccess): Promise<number> {
  for (let runs = 1; ; runs += 1) {
    const id = `part-${runs}`;
    crm.account.script = [{ do: 'save', model: 'Part', rows: [{ id }] }];
    succeeded(await crm.trigger('scripted'));
    const [run] = await eventually(
      scriptedRuns(gateway, crm).succeeded,
      ({ length }) => length === runs,
    );
    if (run!.records_readable !== true) return runs;
    expect((await crm.records('Part')).records).toContainEqual(expect.objectContaining({ id }));
  }
}

/** Runs the sync while the projection of records is paused: none of the gateways may say that its records can be read. */
export async function judgeBehind(
  crm: CrmConnection,
  gateways: readonly [GatewayAccess, ...GatewayAccess[]],
): Promise<void> {
  const [first] = gateways;
  const operate = async (what: 'pause' | 'resume') => {
    const asAccount = { key: first.accountKey, body: {} };
    succeeded(await first.call('POST', `/projections/records/${what}`, asAccount));
  };
  const shown = gateways.map((gateway) => scriptedRuns(gateway, crm));
  await operate('pause');
  const before = await runUntilBehind(crm, first);
  const former = await Promise.all(
    shown.map(async ({ succeeded: listed, status }) => {
      await eventually(listed, ({ length }) => length === before);
      return status();
    }),
  );
  crm.account.script = [{ do: 'save', rows: [{ id: 'a' }] }];
  succeeded(await crm.trigger('scripted'));
  const ids = await Promise.all(
    shown.map(async ({ succeeded: listed, one, status }, at) => {
      const [run] = await eventually(listed, ({ length }) => length === before + 1);
      expect(run).toMatchObject({ status: 'succeeded', records_readable: false });
      expect(await one(run!.id)).toMatchObject({ status: 'succeeded', records_readable: false });
      const ended = await eventually(
        status,
        ({ finishedAt }) => finishedAt !== former[at]!.finishedAt,
      );
      expect(ended).toMatchObject({ records_readable: false });
      return run!.id;
    }),
  );
  expect((await crm.records('Item')).records).toEqual([]);
  await operate('resume');
  await Promise.all(
    shown.map(async ({ succeeded: listed, one, status }, at) => {
      await eventually(listed, ([run]) => run?.records_readable === true);
      expect(await one(ids[at]!)).toMatchObject({ records_readable: true });
      expect(await status()).toMatchObject({ records_readable: true });
    }),
  );
  expect((await crm.records('Item')).records).toMatchObject([{ id: 'a' }]);
}
