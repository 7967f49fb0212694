import type { LifecycleEvent } from '#modules/connections/connections/dependents.ts';
import { bundle } from '../judges/contract/row-functions.ts';
import { succeeded, type CrmWorld } from './crm-world.ts';

/** Deploys one function on the event to the integration `crm`, in place of the one before. */
export async function deployOnEvent(
  { gateway }: CrmWorld,
  event: LifecycleEvent,
  body: string,
): Promise<void> {
  const of = `description: '', event: '${event}', exec: async (svc) => { ${body} }`;
  const js = bundle('', `createOnEvent({ ${of} })`);
  const named = { type: 'on-event', name: 'hook', integrationId: 'crm' };
  const fn = { ...named, event, fileBody: { js, ts: '// of a test' } };
  const reconciliationScope = { kind: 'function', ...named };
  const sent = { body: { reconciliationScope, functions: [fn] } };
  succeeded(await gateway.call('POST', '/functions/deployments/bundle', sent));
}
