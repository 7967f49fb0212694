import { bundle } from '../judges/contract/row-functions.ts';
import { eventually, succeeded, type SharedCrmWorld } from './crm-world.ts';

export interface SeenChange {
  readonly id: string;
  readonly place: string;
  readonly action: string;
  readonly record_id: string;
  readonly seq: number;
  readonly connection_id: string;
  readonly record: { readonly name?: string } | null;
}

interface RunSummary {
  readonly id: string;
  readonly function: string;
  readonly connection_id: string;
  readonly queued_at: string;
  readonly status: string;
}

export const subscriptionOf = (name: string): string => `/subscriptions/crm:${name}`;

/** Deploys one on-change function of contacts to the integration `crm`, in place of the one before. */
export async function deployOnChange(
  { gateway }: Pick<SharedCrmWorld, 'gateway'>,
  name: string,
  body: string,
  more: object = {},
): Promise<void> {
  const of = `description: '', models: ['Contact'], exec: async (svc, changes) => { ${body} }`;
  const js = bundle('', `createOnChange({ ${of} })`);
  const named = { type: 'on-change', name, integrationId: 'crm' };
  const settings = { models: ['Contact'], retries: 0, ...more };
  const fn = { ...named, ...settings, fileBody: { js, ts: '// of a test' } };
  const reconciliationScope = { kind: 'function', ...named };
  const sent = { body: { reconciliationScope, functions: [fn] } };
  succeeded(await gateway.call('POST', '/functions/deployments/bundle', sent));
  const path = subscriptionOf(name);
  await eventually(
    () => gateway.call('GET', path),
    ({ status }) => status === 200,
  );
}

/** The changes that each run of the function with the status was called with, oldest first. */
export async function changesOfRuns(
  { gateway }: Pick<SharedCrmWorld, 'gateway'>,
  name: string,
  status = 'succeeded',
): Promise<SeenChange[][]> {
  const runs: RunSummary[] = [];
  let cursor: string | null = null;
  do {
    const query = `kind=on-change&status=${status}&function=${name}&limit=100`;
    const at: string = cursor === null ? '' : `&cursor=${cursor}`;
    const page = succeeded(await gateway.call('GET', `/runs?${query}${at}`)) as {
      data: RunSummary[];
      pagination: { cursor: string | null };
    };
    runs.push(...page.data);
    ({ cursor } = page.pagination);
  } while (cursor !== null);
  const inputs = runs.toReversed().map(async ({ id }) => {
    const kept = succeeded(await gateway.call('GET', `/runs/${id}/input`)) as {
      data: { input: SeenChange[] };
    };
    return kept.data.input;
  });
  return Promise.all(inputs);
}
