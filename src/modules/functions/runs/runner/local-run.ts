import { GatewayError } from '#kernel/errors.ts';
import type { CalledRun, EndBody, TakenRun } from '../invocation/direct-runs.ts';
import type { RunDeps } from './attempt.ts';
import { onLog, invokeRun } from './invoked-run.ts';

/** The runner's state of a run with a slot. */
interface RunSlot {
  readonly runner: string;
  readonly abort: AbortController;
  /** Ends the last report when the process must stop. */
  readonly closing: AbortSignal;
  readonly over: () => void;
}

/** A run for a caller in this process. */
export function localRun(deps: RunDeps, run: CalledRun, place: RunSlot): TakenRun {
  const { runner, abort, closing, over } = place;
  let end: EndBody | null = null;
  let hasBegun = false;
  const { promise: ended, resolve } = Promise.withResolvers<EndBody>();
  const keepHere = (json: string) => {
    end = { json, hash: deps.payloads.hash(json) };
    return Promise.resolve({ place: null, hash: end.hash });
  };
  const keepOnLog = onLog(deps, run, closing);
  const keepBoth = async (json: string) => {
    const { hash } = await keepHere(json);
    const { place } = await keepOnLog(json);
    return { place, hash };
  };
  return {
    runner,
    get end() {
      return end;
    },
    ended,
    begin({ input, depth, isKept }) {
      hasBegun = true;
      const keepBody = isKept ? keepBoth : keepHere;
      const supplied = { input: Promise.resolve(input), depth, keepBody };
      const report = (isTaken: boolean) => {
        if (isTaken && end !== null) resolve(end);
      };
      void invokeRun(deps, run, supplied, abort, closing).then(report).finally(over);
    },
    stop: () => abort.abort(new GatewayError('script_aborted')),
    [Symbol.dispose]: () => {
      if (!hasBegun) over();
    },
  };
}
