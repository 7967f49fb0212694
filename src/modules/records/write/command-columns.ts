import { limits } from '#kernel/limits.ts';
import type { RecordCommandValue } from '../model/commands.ts';
import type { CheckedRecords } from './checked-records.ts';

/** The columns of one command's records. */
export type Columns = Pick<
  RecordCommandValue,
  'encoding' | 'ids' | 'ends' | 'payloads' | 'deleted_at'
>;

export const noColumns: Columns = {
  encoding: 'none',
  ids: [],
  ends: [],
  payloads: Buffer.alloc(0),
  deleted_at: [],
};

/** Seals the payloads of one command together; null: plain text. */
export type SealBlock =
  | ((payloads: Uint8Array, owners: Pick<Columns, 'ids' | 'ends'>) => Uint8Array)
  | null;

/**
 * Splits into commands of up to 1000 records and 1 MB. Unsealed payloads are in a reused buffer: they must be encoded
 * or copied before the next command is packed.
 */
export function* commandColumns(records: CheckedRecords, seal: SealBlock): Generator<Columns> {
  let from = 0;
  while (from < records.ids.length) {
    const part = partFrom(records, from, seal);
    yield part;
    from += part.ids.length;
  }
}

/** Buffer for the joined payloads of one command, used synchronously: room for a full command and one more record. */
const joined = Buffer.allocUnsafeSlow(limits.commandBytesMax + 3 * limits.recordBytesMax);

/** The records from `from` on that fit in one command. */
function partFrom(records: CheckedRecords, from: number, seal: SealBlock): Columns {
  const last = Math.min(records.ids.length, from + limits.commandRecordsMax);
  const ends: number[] = [];
  let end = 0;
  let target = from;
  for (; target < last; target++) {
    const text = records.texts[target] ?? '';
    if (text.length > limits.recordBytesMax) throw new RangeError('a record over the limit');
    const next = end + joined.write(text, end);
    if (next > limits.commandBytesMax && target > from) break;
    ends.push(next);
    end = next;
  }
  const ids = records.ids.slice(from, target);
  const deletedAt = records.deletedAt.slice(from, target);
  const payloads = joined.subarray(0, end);
  return {
    encoding: seal === null ? 'json' : 'json-block+aes256gcm',
    ids,
    ends,
    payloads: seal === null ? payloads : seal(payloads, { ids, ends }),
    deleted_at: deletedAt.some((at) => at > 0) ? deletedAt : [],
  };
}
