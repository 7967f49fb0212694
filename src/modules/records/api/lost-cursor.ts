import { GatewayError } from '#kernel/errors.ts';
import { partitionOf } from '#kernel/partition.ts';
import { isoMicros } from '#kernel/time.ts';
import { environmentRef } from '#modules/access/environments/entity.ts';
import { decodeCursor } from '../model/cursor.ts';
import { streamKey, type Stream } from '../model/stream.ts';
import type { RecordsServices } from '../services.ts';

/**
 * Refuses the cursor of a change that the log has lost by a restore: other changes have its position and those before it
 * (docs/adr/0050-cursors-of-lost-changes.md).
 * @throws GatewayError `invalid_cursor_value`
 */
export function refuseLost(
  { control, settings }: Pick<RecordsServices, 'control' | 'settings'>,
  stream: Stream,
  cursor: string,
): void {
  const { lostChanges = [] } = control.view.find(environmentRef(stream.environmentUid)) ?? {};
  if (lostChanges.length === 0) return;
  const { modifiedAt } = decodeCursor(cursor);
  const partition = partitionOf(streamKey(stream), settings.partitions);
  for (const { after, until } of lostChanges) {
    // More partitions are a multiple: the former one of each is the rest.
    const last = after[partition % after.length] ?? 0;
    if (modifiedAt <= last || modifiedAt > until) continue;
    const message = `The cursor is of a change that was lost when the event log was restored. Read again without a cursor, from the start or with modified_after=${isoMicros(last)}.`;
    throw new GatewayError('invalid_cursor_value', { message });
  }
}
