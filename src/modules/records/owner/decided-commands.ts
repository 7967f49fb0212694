import { recordCommandsTopic } from '../commands.ts';
import type { Shared } from './deps.ts';

/** Decided commands are kept for a day: marks of delete passes are recovered from them, and operators may look. */
const keptMs = 86_400_000;

/** Offset before which commands are decided and older than a day; `next` is the first that is still needed. */
export async function deletableBefore(
  { log, clock }: Shared,
  partition: number,
  next: number,
): Promise<number> {
  const old = await log.offsetAt(recordCommandsTopic, partition, clock.now() - keptMs);
  return Math.min(old, next);
}
