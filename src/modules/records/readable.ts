import type { ModelPlace } from '../syncs/events.ts';
import type { RecordReader } from './reader.ts';

/** Usual are some hundred milliseconds: what takes longer is said, and not waited for. */
const readableWithinMs = 2_000;

/**
 * Whether what runs changed can be read, by the places where their changes end; waits for it for two seconds, all together.
 * Costs no query for each run.
 */
export async function areReadable(
  reader: Pick<RecordReader, 'published'>,
  runs: readonly (readonly ModelPlace[])[],
): Promise<boolean[]> {
  const late = AbortSignal.timeout(readableWithinMs);
  const isReadable = async ({ partition, offset }: ModelPlace): Promise<boolean> => {
    try {
      await reader.published(partition, offset, late);
      return true;
    } catch (error) {
      if (late.aborted) return false;
      throw error;
    }
  };
  return Promise.all(
    runs.map(async (places) => (await Promise.all(places.map(isReadable))).every(Boolean)),
  );
}
