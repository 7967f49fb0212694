import type { Sandbox } from '#ports/sandbox.ts';
import { runFunction, type BuiltFunction, type FunctionEnd } from '../dryrun/run-function.ts';
import type { Mocks } from '../mocks/mocks.ts';
import { replayHost, type ReplayResult } from './replay-host.ts';

export interface ReplayEnd extends ReplayResult, FunctionEnd {}

/** Runs a function as it ran when the mocks were saved, without any outside access. */
export async function replayRun(
  sandbox: Sandbox,
  fn: BuiltFunction,
  mocks: Mocks,
  signal: AbortSignal,
): Promise<ReplayEnd> {
  const { calls, result } = replayHost(mocks);
  const { connection_id: id } = mocks.svc.getConnection;
  const connectionId = typeof id === 'string' ? id : '';
  const facts = { ...mocks.run, connectionId, environmentName: 'test' };
  return {
    ...result,
    ...(await runFunction(sandbox, fn, { input: mocks.input, facts, signal }, calls)),
  };
}
