import type { Metrics } from '../ports/metrics.ts';
import type { FailureKind, Sandbox } from '../ports/sandbox.ts';

/** Failures that the sandbox causes by ending a run. */
const kills: ReadonlySet<FailureKind> = new Set<FailureKind>([
  'memory',
  'timeout',
  'aborted',
  'limit',
  'output_too_large',
  'interrupted',
]);

/** The sandbox, with the runs that it ended counted. */
export function observeSandbox(sandbox: Sandbox, metrics: Metrics): Sandbox {
  return {
    run: async (...input) => {
      const result = await sandbox.run(...input);
      if (result.status === 'error' && kills.has(result.error.kind)) {
        metrics.count('svc_sandbox_kills_total', [result.error.kind]);
      }
      return result;
    },
    describe: (...supplied) => sandbox.describe(...supplied),
    [Symbol.asyncDispose]: () => sandbox[Symbol.asyncDispose](),
  };
}
