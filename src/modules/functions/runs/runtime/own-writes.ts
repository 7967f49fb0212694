import { GatewayError } from '../../../../kernel/errors.ts';
import type { RecordReader } from '../../../records/reader.ts';
import type { Stream } from '../../../records/stream.ts';
import type { RecordWriter, WriteOrigin } from '../../../records/writer.ts';
import { abortError } from './provider-calls.ts';

/** Much more than the normal lag of the tables, and less than a run may be blocked. */
const readableWithinMs = 60_000;

/** Tracks the writes of a run, and when the tables contain them. */
export interface OwnWrites {
  /** Runs work that writes the stream. */
  during<T>(stream: Stream, task: () => Promise<T>): Promise<T>;
  /**
   * Resolves when all writes of the run to the stream are readable, including those of earlier attempts.
   * @throws GatewayError `projection_unavailable`, and as the run is aborted
   */
  readable(stream: Stream): Promise<void>;
}

export function ownWrites(
  { writer, reader }: { readonly writer: RecordWriter; readonly reader: RecordReader },
  origin: WriteOrigin,
  signal: AbortSignal,
): OwnWrites {
  /** Streams that the run has not written since. */
  const settled = new Set<Stream>();
  return {
    async during(stream, task) {
      try {
        return await task();
      } finally {
        settled.delete(stream);
      }
    },
    async readable(stream) {
      if (settled.has(stream)) return;
      // Set first, because a concurrent write resets it.
      settled.add(stream);
      const late = AbortSignal.timeout(readableWithinMs);
      try {
        const { partition, offset } = await writer.barrier(stream, origin);
        await reader.published(partition, offset, AbortSignal.any([signal, late]));
      } catch (error) {
        settled.delete(stream);
        if (signal.aborted) throw abortError(signal);
        if (!late.aborted) throw error;
        throw new GatewayError('projection_unavailable', { retryAfterS: 1 }, { cause: error });
      }
    },
  };
}
