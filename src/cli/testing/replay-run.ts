import type { Json } from '../../kernel/stable-json.ts';
import { functionTypeOf } from '../../modules/functions/functions/state.ts';
import { runLimits } from '../../modules/functions/runs/runtime/run-limits.ts';
import type { RunFailure, Sandbox } from '../../ports/sandbox.ts';
import type { Entry } from '../compiler/entries.ts';
import type { Mocks } from '../mocks/mocks.ts';
import { replayHost, type Replayed } from './replay-host.ts';

export interface ReplayEnd extends Replayed {
  /** Undefined when the function returned nothing. */
  readonly output: Json | undefined;
  /** Null when the function ended well. */
  readonly failure: RunFailure | null;
}

/** Runs a function as it ran when the mocks were saved, without any outside access. */
export async function replayRun(
  sandbox: Sandbox,
  fn: {
    readonly entry: Entry;
    readonly bundle: string;
    readonly models: readonly string[];
  },
  mocks: Mocks,
  signal: AbortSignal,
): Promise<ReplayEnd> {
  const { entry, bundle, models } = fn;
  const { calls, written } = replayHost(mocks);
  const { connection_id: connectionId } = mocks.svc.getConnection;
  const result = await sandbox.run(
    {
      bundle,
      fileName: `${entry.bundleName}.cjs`,
      type: functionTypeOf(entry.kind),
      entry: 'exec',
      input: mocks.input === undefined ? undefined : JSON.stringify(mocks.input),
      context: {
        connectionId: typeof connectionId === 'string' ? connectionId : '',
        providerConfigKey: entry.integrationKey,
        environmentName: 'test',
        environmentId: 0,
        models,
        loggerLevel: 'debug',
        validation: 'off',
        ...mocks.run,
      },
      limits: runLimits[entry.kind],
      signal,
    },
    calls,
  );
  if (result.status === 'error') return { ...written, output: undefined, failure: result.error };
  const output = result.output === undefined ? undefined : (JSON.parse(result.output) as Json);
  return { ...written, output, failure: null };
}
