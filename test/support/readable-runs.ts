import { expect } from 'vitest';
import { eventually, succeeded, type CrmConnection } from './crm-world.ts';
import type { GatewayAccess } from './gateway.ts';

interface ShownRun {
  readonly id: string;
  readonly status: string;
  readonly records_readable: boolean | null;
}

/** The newest run of the sync `scripted` of a connection, as the list and as its own page show it. */
export function scriptedRuns(gateway: GatewayAccess, { id }: CrmConnection) {
  return {
    succeeded: async (): Promise<ShownRun[]> => {
      const query = `connection_id=${id}&function=scripted&status=succeeded`;
      return (succeeded(await gateway.call('GET', `/runs?${query}`)) as { data: ShownRun[] }).data;
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
  for (let revision = 1; revision <= runs; revision += 1) {
    const rows = Array.from({ length: rowsOfRun }, (_, n) => ({ id: `${revision}-${n}` }));
    crm.account.script = [{ do: 'save', rows }];
    succeeded(await crm.trigger('scripted'));
    const [run] = await eventually(shown.succeeded, ({ length }) => length === revision);
    const look = async () =>
      revision % 2 === 0 ? shown.one(run!.id) : (await shown.succeeded())[0]!;
    await eventually(look, ({ records_readable: isReadable }) => isReadable === true);
    for (const gateway of reading) {
      const path = '/records?model=Item&limit=1000';
      const { records } = succeeded(await gateway.call('GET', path, { headers: crm.headers })) as {
        records: unknown[];
      };
      expect(records).toHaveLength(rowsOfRun * revision);
    }
  }
}
