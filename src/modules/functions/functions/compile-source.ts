import { Worker } from 'node:worker_threads';
import { EnvironmentSlots } from '#kernel/environment-slots.ts';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import type { FunctionKind } from './function.ts';

/** The name and type of a file to compile. */
export interface SourceTarget {
  readonly integrationKey: string;
  readonly name: string;
  readonly kind: FunctionKind;
}

/** The input of the compiler thread; without a target the code defines its type. */
export interface SourceOrder {
  readonly code: string;
  /** Files that it imports, by path in a project in which the folder of the integration is called `integration`. */
  readonly imports?: Readonly<Record<string, string>>;
  readonly target?: SourceTarget;
}

/** The output of the compiler thread: the function in the format of a deployment, or the error. */
export type SourceCompiled =
  | { readonly outcome: 'compiled'; readonly bundle: string; readonly sent: JsonObject }
  | { readonly outcome: 'refused'; readonly message: string };

/** Of the thread, and of the process beyond what it reserves. */
const heapMbMax = 1024;

/** Each compilation is a thread, and a process that checks types. */
const slots = new EnvironmentSlots({
  total: limits.compilationsMax,
  perEnvironment: limits.environmentCompilationsMax,
  code: 'execution_environment_unavailable',
  noun: 'compilations',
});

/** One file of functions, compiled. */
export interface CompiledSource {
  /** CommonJS text. */
  readonly bundle: string;
  /** One of `functions` in the body of a deployment. */
  readonly sent: JsonObject;
}

/**
 * Compiles one file of functions and what it imports, with the checks of `svc compile`.
 * @throws GatewayError `compilation_error` with every problem, or for too much memory; `timeout` after 3 minutes;
 *   `execution_environment_unavailable` when the process or the environment is at its limit of
 *   compilations
 */
export async function compileSource(
  order: SourceOrder,
  signal: AbortSignal,
  {
    environmentUid,
    heapMb = heapMbMax,
  }: { readonly environmentUid: string; readonly heapMb?: number },
): Promise<CompiledSource> {
  using _slot = slots.take(environmentUid);
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
    await worker.terminate();
  }
}

/** Next to this file in the source and in the built package. */
const workerUrl = new URL(
  `../../../cli/compiler/source-worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`,
  import.meta.url,
);

function answerOf(worker: Worker, signal: AbortSignal): Promise<SourceCompiled> {
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', (cause: Error) => reject(compileError(cause)));
    worker.once('exit', () => reject(new GatewayError('execution_environment_unavailable')));
    signal.addEventListener('abort', () => reject(new GatewayError('timeout')), { once: true });
  });
}

export const tooMuchMemory =
  'The type check of the file needs too much memory: simplify its types.';

function compileError(cause: Error): GatewayError {
  if (!('code' in cause) || cause.code !== 'ERR_WORKER_OUT_OF_MEMORY') {
    return new GatewayError('execution_environment_unavailable', {}, { cause });
  }
  return new GatewayError('compilation_error', { message: tooMuchMemory }, { cause });
}
