import {
  closeSync,
  constants,
  existsSync,
  fdatasyncSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { GatewayError } from '#kernel/errors.ts';
import { addRowCrc, checkSmallTables } from './small-tables.ts';
import { asLogFailure, isDiskFull } from './sqlite-failure.ts';
import { formatOf, formatVersions, logFile, openReadConnection } from './tables.ts';

/**
 * A slot for each partition, by its id: a checksum, the end, and the name. It divides a sector, so that a slot is written
 * as a whole or not at all.
 */
const slotBytes = 128;
const [crcAt, endAt, nameAt] = [0, 8, 16];
const nameBytes = slotBytes - nameAt;

export const endsFile = (directory: string): string => join(directory, 'acknowledged-ends');

/** A partition as the log has it after a commit. */
interface CommittedPartition {
  readonly id: number;
  readonly topic: { readonly name: string };
  readonly number: number;
  readonly next: number;
}

/** `<topic>/<partition>`. */
const nameOf = ({ topic, number }: CommittedPartition): string => `${topic.name}/${number}`;

/**
 * The ends of the partitions as they were acknowledged, in a file beside the log. SQLite takes a damaged or missing
 * write-ahead log for one that ends earlier; this file is the evidence that it does not. It is written after each commit
 * and before the commit is acknowledged, but not flushed: after a power loss it may be behind the log, never ahead of it.
 */
export class AcknowledgedEnds {
  readonly #fd: number;
  #slots = Buffer.alloc(0);

  constructor(directory: string) {
    this.#fd = openSync(endsFile(directory), constants.O_RDWR | constants.O_CREAT, 0o600);
  }

  /** Call after each commit with the partitions that it changed. */
  write(partitions: ReadonlySet<CommittedPartition>): void {
    let [first, last] = [Infinity, -1];
    for (const partition of partitions) {
      this.#set(partition);
      first = Math.min(first, partition.id);
      last = Math.max(last, partition.id);
    }
    if (last < 0) return;
    const position = first * slotBytes;
    try {
      writeSync(this.#fd, this.#slots, position, (last + 1) * slotBytes - position, position);
    } catch (error) {
      // The commit is durable. The former evidence stays true of what was before it.
      if (!isDiskFull(error)) throw error;
    }
  }

  close(): void {
    fdatasyncSync(this.#fd);
    closeSync(this.#fd);
  }

  #set(partition: CommittedPartition): void {
    const slot = partition.id * slotBytes;
    if (this.#slots.length < slot + slotBytes) {
      const grown = Buffer.alloc(2 * (slot + slotBytes));
      this.#slots.copy(grown);
      this.#slots = grown;
    }
    this.#slots.writeDoubleLE(partition.next, slot + endAt);
    this.#slots.write(nameOf(partition), slot + nameAt, nameBytes);
    this.#slots.writeUInt32LE(crcOf(this.#slots, slot), slot + crcAt);
  }
}

const crcOf = (slots: Buffer, slot: number): number =>
  crc32(slots.subarray(slot + endAt, slot + slotBytes));

interface AcknowledgedEnd {
  readonly id: number;
  /** `<topic>/<partition>`. */
  readonly name: string;
  readonly end: number;
}

interface ReadEnds {
  readonly ends: readonly AcknowledgedEnd[];
  readonly damagedSlots: number;
}

const unwritten = Buffer.alloc(slotBytes);

function readEnds(directory: string): ReadEnds {
  const file = endsFile(directory);
  if (!existsSync(file)) return { ends: [], damagedSlots: 0 };
  const slots = readFileSync(file);
  const ends: AcknowledgedEnd[] = [];
  let damagedSlots = slots.length % slotBytes === 0 ? 0 : 1;
  for (let id = 0; (id + 1) * slotBytes <= slots.length; id += 1) {
    const slot = id * slotBytes;
    const bytes = slots.subarray(slot, slot + slotBytes);
    if (bytes.equals(unwritten)) continue;
    if (slots.readUInt32LE(slot + crcAt) === crcOf(slots, slot)) {
      const name = bytes.toString('utf8', nameAt).replaceAll('\0', '');
      ends.push({ id, name, end: slots.readDoubleLE(slot + endAt) });
    } else damagedSlots += 1;
  }
  return { ends, damagedSlots };
}

/** A partition that ends before an end that was acknowledged. */
interface Gap {
  readonly name: string;
  /** The first missing offset. */
  readonly from: number;
  /** The last one. */
  readonly to: number;
}

/** Reads the log of the folder and changes nothing. @throws GatewayError `log_corrupt` */
export function missingMessages(directory: string): readonly Gap[] {
  return gapsOf(directory, readEnds(directory).ends);
}

function gapsOf(directory: string, ends: readonly AcknowledgedEnd[]): readonly Gap[] {
  if (ends.length === 0) return [];
  try {
    const found = endsInLog(directory);
    return ends
      .map(({ id, name, end }) => ({ name, from: found.get(id) ?? 0, to: end - 1 }))
      .filter(({ from, to }) => from <= to);
  } catch (error) {
    throw asLogFailure(error);
  }
}

/** By the id of the partition. */
function endsInLog(directory: string): ReadonlyMap<number, number> {
  // Nothing of what was acknowledged is left.
  if (!existsSync(logFile(directory))) return new Map();
  const db = openReadConnection(directory);
  try {
    const table = db.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'partitions'`).get();
    if (table === undefined) return new Map();
    if (formatOf(db) === formatVersions.current) {
      addRowCrc(db);
      checkSmallTables(db);
    }
    const rows = db.prepare('SELECT id, next FROM partitions').all();
    return new Map(rows.map(({ id, next }) => [Number(id), Number(next)]));
  } finally {
    db.close();
  }
}

const namedMax = 5;

/**
 * Call before anything is written to the log.
 * @returns the damage of the evidence itself, for the operator; null = none
 * @throws GatewayError `log_incomplete` that names what is missing; `log_corrupt`
 */
export function mustHaveAcknowledged(directory: string): string | null {
  const { ends, damagedSlots } = readEnds(directory);
  const gaps = gapsOf(directory, ends);
  if (gaps.length === 0) {
    return damagedSlots === 0
      ? null
      : `${endsFile(directory)} is damaged: it is written again, but this start could not compare ${damagedSlots} of its entries with the log.`;
  }
  throw incomplete(gaps);
}

function incomplete(gaps: readonly Gap[]): GatewayError {
  const total = gaps.reduce((sum, { from, to }) => sum + to - from + 1, 0);
  const named = gaps.slice(0, namedMax).map(({ name, from, to }) => `${name} ${from} to ${to}`);
  const others = gaps.length - named.length;
  const more = others === 0 ? '' : `, and of ${others} other partitions`;
  const message = `The event log lacks ${total} acknowledged messages, by offset: ${named.join(', ')}${more}.`;
  return new GatewayError('log_incomplete', { message });
}

/** Accepts the log as it is: the next start notes its ends again. */
export const forgetEnds = (directory: string): void => rmSync(endsFile(directory), { force: true });
