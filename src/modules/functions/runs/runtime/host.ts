import { Mask } from '../../../../kernel/mask.ts';
import type { HostCall, HostCalls } from '../../../../ports/sandbox.ts';
import { secretsOfConnection } from '../given-secrets.ts';
import { checkpointCalls } from './checkpoint-calls.ts';
import { connectionCalls } from './connection-calls.ts';
import type { RuntimeDeps } from './deps.ts';
import { lockCalls } from './lock-calls.ts';
import { logCalls } from './log-calls.ts';
import { abortError, providerCalls } from './provider-calls.ts';
import { recordCalls } from './record-calls.ts';
import { runCalls } from './run-calls.ts';
import { SeenConnections } from './seen-connections.ts';

/** The host side of one run; disposing it releases the resources of the run. */
export interface RuntimeHost extends AsyncDisposable {
  readonly calls: HostCalls;
  /** Masks the secrets that the run got so far, in all its texts except records and results. */
  readonly mask: Mask;
}

/**
 * All effects that a function of this run can have (docs/reference/functions.md#handle). Once the signal is aborted,
 * every call is refused with its reason.
 */
export function createRuntimeHost(deps: RuntimeDeps): RuntimeHost {
  const mask = new Mask();
  const masked = maskedDeps(deps, mask);
  const seen = new SeenConnections(deps, (connection) => {
    secretsOfConnection(connection).forEach((secret) => mask.add(secret));
  });
  const locks = lockCalls(deps);
  const calls: HostCalls = {
    ...providerCalls(masked, seen.open),
    ...logCalls(masked),
    ...connectionCalls(deps, seen, mask),
    ...checkpointCalls(masked),
    ...runCalls(deps),
    ...locks.calls,
    ...recordCalls(masked),
  };
  const guarded = Object.entries(calls).map(([name, call]) => [name, guard(call, deps.signal)]);
  return {
    calls: Object.fromEntries(guarded) as HostCalls,
    mask,
    [Symbol.asyncDispose]: () => locks.releaseAll(),
  };
}

/** Texts about the run do not contain the secrets that it got. */
function maskedDeps(deps: RuntimeDeps, mask: Mask): RuntimeDeps {
  const { log, timeline } = deps;
  return {
    ...deps,
    log: {
      lines: (lines) =>
        log.lines(
          lines.map(({ level, message, payload }) => ({
            level,
            message: mask.text(message),
            payload: payload === null ? null : mask.text(payload),
          })),
        ),
      http: (line) => log.http(mask.data(line)),
    },
    timeline: (note) => timeline(mask.data(note)),
  };
}

function guard(call: HostCall, signal: AbortSignal): HostCall {
  return async (args) => {
    if (signal.aborted) throw abortError(signal);
    return call(args);
  };
}
