import { Worker } from 'node:worker_threads';
import { GatewayError } from '../../../kernel/errors.ts';
import { limits } from '../../../kernel/limits.ts';
import type { JsonObject } from '../../../kernel/stable-json.ts';

/** Under which name and as what a file is compiled. */
export interface SourceTarget {
  readonly integrationKey: string;
  readonly name: string;
  readonly kind: 'sync' | 'action';
}

/** What the compiling thread is given; without a target the code says what it is. */
export interface SourceOrder {
  readonly code: string;
  readonly target?: SourceTarget;
}

/** What the compiling thread says: the function as a deployment sends it, or why there is none. */
export type SourceCompiled =
  | { readonly outcome: 'compiled'; readonly bundle: string; readonly sent: JsonObject }
  | { readonly outcome: 'refused'; readonly message: string };

/** Compilations at a time on this node; each is a thread with a type checker of some 300 MB. */
const compilationsMax = 2;
/** Of one compilation. */
const heapMbMax = 1024;

let running = 0;

/** One file of functions, compiled. */
export interface CompiledSource {
  /** CommonJS text. */
  readonly bundle: string;
  /** One of `functions` in the body of a deployment. */
  readonly sent: JsonObject;
}

/**
 * Compiles one file of functions, with the checks of `svc compile`.
 * @throws GatewayError `compilation_error` naming every problem, or that it takes too much memory; `timeout` after 3 minutes;
 *   `execution_environment_unavailable` when the node compiles enough already
 */
export async function compileSource(
  order: SourceOrder,
  signal: AbortSignal,
  { heapMb = heapMbMax }: { readonly heapMb?: number } = {},
): Promise<CompiledSource> {
  if (running >= compilationsMax) throw new GatewayError('execution_environment_unavailable');
  running += 1;
  const worker = new Worker(workerUrl, {
    workerData: order,
    resourceLimits: { maxOldGenerationSizeMb: heapMb },
  });
  try {
    const compiled = await answerOf(
      worker,
      AbortSignal.any([signal, AbortSignal.timeout(limits.compileMaxMs)]),
    );
    if (compiled.outcome === 'compiled') return compiled;
    throw new GatewayError('compilation_error', { message: compiled.message });
  } finally {
    running -= 1;
    await worker.terminate();
  }
}

/** Beside this file in the source and in the built package alike. */
const workerUrl = new URL(
  `../../../cli/compiler/source-worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`,
  import.meta.url,
);

function answerOf(worker: Worker, signal: AbortSignal): Promise<SourceCompiled> {
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', (cause: Error) => reject(failureOf(cause)));
    worker.once('exit', () => reject(new GatewayError('execution_environment_unavailable')));
    signal.addEventListener('abort', () => reject(new GatewayError('timeout')), { once: true });
  });
}

function failureOf(cause: Error): GatewayError {
  if (!('code' in cause) || cause.code !== 'ERR_WORKER_OUT_OF_MEMORY') {
    return new GatewayError('execution_environment_unavailable', {}, { cause });
  }
  const message = 'The type check of the file needs too much memory: simplify its types.';
  return new GatewayError('compilation_error', { message }, { cause });
}
