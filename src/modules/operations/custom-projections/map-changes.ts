import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import { notMapped, type ChangeMapper, type RunLimits } from '#ports/sandbox.ts';

/** A mapping takes microseconds for a change: this is for one that does not end. */
const changeCpuMs = 1_000;
const cpuMsPerChange = 5;
const mappingLimits = (changes: number): RunLimits => {
  const cpuMs = changeCpuMs + cpuMsPerChange * changes;
  return {
    cpuMs,
    wallMs: 60_000 + cpuMs,
    graceMs: 0,
    heapMb: limits.sandboxHeapMb,
    outputBytes: 64 * 1024 ** 2,
    hostCalls: 0,
  };
};

/** A process that ends so often under the same changes ends by them. */
const interruptionsMax = 3;

/** The values of its rows by column, as JSON; or why it could not be mapped. */
export type MappedRows = { readonly values: string } | { readonly error: string };

/**
 * Maps changes, each as JSON text; the result is in their order. A change that ends the run is found by halves, so that
 * others are mapped.
 * @throws GatewayError `execution_environment_unavailable`; the signal's reason
 */
export async function mapChanges(
  mapper: Pick<ChangeMapper, 'map'>,
  { bundle, fileName }: { readonly bundle: string; readonly fileName: string },
  changes: readonly string[],
  signal: AbortSignal,
  interruptions = 0,
): Promise<readonly MappedRows[]> {
  if (changes.length === 0) return [];
  const again = (some: readonly string[], times = 0): Promise<readonly MappedRows[]> =>
    mapChanges(mapper, { bundle, fileName }, some, signal, times);
  const result = await mapper.map({
    bundle,
    fileName,
    changes: `[${changes.join(',')}]`,
    limits: mappingLimits(changes.length),
    signal,
  });
  signal.throwIfAborted();
  if (result.status === 'ok') {
    const lines = (result.output ?? '').split('\n');
    if (lines.length === changes.length) return lines.map(mappedOf);
    return changes.map(() => ({ error: 'The bundle returned other lines than the changes have.' }));
  }
  const { kind, message } = result.error;
  if (kind === 'interrupted' && interruptions < interruptionsMax) {
    return again(changes, interruptions + 1);
  }
  // Thrown outside of the mapping: it would be so for each change.
  if (kind === 'error' || changes.length === 1) return changes.map(() => ({ error: message }));
  const middle = changes.length >> 1;
  return [...(await again(changes.slice(0, middle))), ...(await again(changes.slice(middle)))];
}

const mappedOf = (line: string): MappedRows =>
  line.startsWith(notMapped) ? { error: line.slice(notMapped.length) } : { values: line };

/** No place for the run in the sandbox: it is tried again. */
export const isMapperBusy = (error: unknown): boolean =>
  error instanceof GatewayError && error.code === 'execution_environment_unavailable';
