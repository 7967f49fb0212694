import { GatewayError } from '#kernel/errors.ts';
import { parseRawJson } from '#kernel/exact-json.ts';
import type { Json } from '#kernel/stable-json.ts';
import type { Connection } from '#modules/connections/connections/state.ts';
import type { DeployedFunction } from '../../functions/function.ts';
import type { CalledRun } from '../invocation/direct-runs.ts';
import { createDryRun, type DryRunOrder } from '../runtime/dry-run-calls.ts';
import type { HostRun } from '../runtime/open-host.ts';
import { attempted, connectionOf, runUserCode, type Ending, type RunDeps } from './attempt.ts';

/** A dry run: its requests reach the provider, its writes are discarded. The output is `{output, result}`. */
export async function performDryRun(
  deps: RunDeps,
  change: CalledRun,
  supplied: Pick<HostRun, 'operation' | 'signal'> & { readonly input: Promise<string | undefined> },
): Promise<Ending> {
  const { operation, signal } = supplied;
  return attempted(deps, async () => {
    const connection = await connectionOf(deps, change);
    // It was made of this type, and sealed.
    const order = parseRawJson((await supplied.input) ?? '{}') as DryRunOrder;
    const definition = await deps.sandbox.describe(order.bundle, 'dryrun.js');
    if (definition.type !== order.functionType) {
      const message = `The code is of the type ${definition.type}, not ${order.functionType}.`;
      throw new GatewayError('invalid_request', { message });
    }
    const fn = tried(order, connection, Object.keys(definition.models));
    const dryRun = { kind: 'dryrun', runId: change.run_id ?? '', attempt: change.attempt } as const;
    const run = { ...dryRun, connection, fn, instance: null, depth: 0, operation, signal };
    const input = order.input === undefined ? undefined : JSON.stringify(order.input);
    let result = {};
    const ending = await runUserCode(deps, run, input, ({ calls, context, mask }) => {
      const dry = createDryRun(calls, connection, order, mask);
      result = dry;
      const { models } = fn;
      const { lastSyncDate = null } = order;
      return {
        calls: dry.calls,
        context: { ...context, models, lastSyncDate, loggerLevel: 'debug' },
      };
    });
    if (ending.kind !== 'ok') return ending;
    const left = (result as ReturnType<typeof createDryRun>).result();
    const output: Json = ending.output === undefined ? null : (parseRawJson(ending.output) as Json);
    return { kind: 'ok', output: JSON.stringify({ output, result: left }) };
  });
}

/** The function in the format of a deployed one. */
function tried(
  { functionType, bundle }: DryRunOrder,
  { environmentUid, integrationKey }: Connection,
  models: readonly string[],
): DeployedFunction {
  return {
    id: 0,
    environmentUid,
    integrationKey,
    kind: functionType,
    name: 'dryrun',
    description: '',
    version: '',
    isEnabled: true,
    bundle,
    source: '',
    contentHash: '',
    models,
    jsonSchema: {},
    inputModel: null,
    scopes: [],
    features: [],
    frequency: null,
    autoStart: false,
    trackDeletes: false,
    syncType: 'full',
    webhookSubscriptions: [],
    event: null,
    deployedAt: 0,
  };
}
