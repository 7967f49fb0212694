import { limits } from '../../kernel/limits.ts';
import type { CheckedRecords } from './checked-records.ts';
import type { RecordCommandValue } from './commands.ts';

/** The columns of one command's records. */
export type Columns = Pick<
  RecordCommandValue,
  'encoding' | 'ids' | 'hashes' | 'ends' | 'payloads' | 'deleted_at'
>;

export const noColumns: Columns = {
  encoding: 'none',
  ids: [],
  hashes: '',
  ends: [],
  payloads: Buffer.alloc(0),
  deleted_at: [],
};

export interface Packing {
  readonly hash: (text: string) => string;
  /** Seals the payloads of one command together; null: they travel as they are. */
  readonly seal:
    ((payloads: Uint8Array, owners: Pick<Columns, 'ids' | 'ends'>) => Uint8Array) | null;
}

/** Splits into commands of up to 1000 records and 1 MB (design section 4). */
export function pack(records: CheckedRecords, packing: Packing): Columns[] {
  const parts: Columns[] = [];
  let from = 0;
  while (from < records.ids.length) {
    const to = partEnd(records, from);
    parts.push(part(records, from, to, packing));
    from = to;
  }
  return parts;
}

function partEnd({ bytes }: CheckedRecords, from: number): number {
  const last = Math.min(bytes.length, from + limits.commandRecordsMax);
  let total = 0;
  for (let at = from; at < last; at++) {
    total += bytes[at] ?? 0;
    if (total > limits.commandBytesMax && at > from) return at;
  }
  return last;
}

function part(records: CheckedRecords, from: number, to: number, packing: Packing): Columns {
  const { hash, seal } = packing;
  const texts = records.texts.slice(from, to);
  const ids = records.ids.slice(from, to);
  const deletedAt = records.deletedAt.slice(from, to);
  let hashes = '';
  for (const text of texts) hashes += hash(text);
  const { payloads, ends } = joined(texts, records.bytes.slice(from, to));
  return {
    encoding: seal === null ? 'json' : 'json-block+aes256gcm',
    ids,
    hashes,
    ends,
    payloads: seal === null ? payloads : seal(payloads, { ids, ends }),
    deleted_at: deletedAt.some((at) => at > 0) ? deletedAt : [],
  };
}

function joined(texts: readonly string[], bytes: readonly number[]) {
  const payloads = Buffer.allocUnsafeSlow(bytes.reduce((sum, length) => sum + length, 0));
  const ends: number[] = [];
  let at = 0;
  for (const text of texts) {
    at += payloads.write(text, at);
    ends.push(at);
  }
  return { payloads, ends };
}
