import type { HostCall, HostCalls } from '../../../ports/sandbox.ts';
import { checkpointCalls } from './checkpoint-calls.ts';
import { connectionCalls } from './connection-calls.ts';
import type { RuntimeDeps } from './deps.ts';
import { lockCalls } from './lock-calls.ts';
import { logCalls } from './log-calls.ts';
import { abortError, providerCalls } from './provider-calls.ts';
import { recordCalls } from './record-calls.ts';
import { runCalls } from './run-calls.ts';

/** The host side of one run; disposing it gives back what the run still holds. */
export interface RuntimeHost extends AsyncDisposable {
  readonly calls: HostCalls;
}

/**
 * Everything that a function of this run can cause (contract/functions.md section 4). Once the signal is
 * aborted, every call is refused with its reason.
 */
export function createRuntimeHost(deps: RuntimeDeps): RuntimeHost {
  const locks = lockCalls(deps);
  const calls: HostCalls = {
    ...providerCalls(deps),
    ...logCalls(deps),
    ...connectionCalls(deps),
    ...checkpointCalls(deps),
    ...runCalls(deps),
    ...locks.calls,
    ...recordCalls(deps),
  };
  const guarded = Object.entries(calls).map(([name, call]) => [name, guard(call, deps.signal)]);
  return {
    calls: Object.fromEntries(guarded) as HostCalls,
    [Symbol.asyncDispose]: () => locks.releaseAll(),
  };
}

function guard(call: HostCall, signal: AbortSignal): HostCall {
  return async (args) => {
    if (signal.aborted) throw abortError(signal);
    return call(args);
  };
}
