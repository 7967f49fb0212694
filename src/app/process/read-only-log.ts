import { GatewayError } from '#kernel/errors.ts';
import { overridden } from '#kernel/overridden.ts';
import { readOnlyRefusal } from '#kernel/read-only.ts';
import type { EventLog } from '#ports/event-log.ts';

/**
 * The log of a process that only reads: whatever would change it, or move the position of a group, is refused with
 * `read_only`. Topics must exist.
 */
export function readOnlyLog(log: EventLog): EventLog {
  const refuse = (): Promise<never> => Promise.reject(readOnlyRefusal());
  return overridden(log, {
    async ensureTopics(specs) {
      for (const { name, partitions } of specs) {
        const found = await log.partitions(name);
        if (found === partitions) continue;
        const message = `The topic ${name} has ${found} partitions instead of ${partitions}.`;
        throw new GatewayError('conflict', { message });
      }
    },
    append: refuse,
    openWriter: refuse,
    join: refuse,
    commit: refuse,
    deleteBefore: refuse,
  });
}
