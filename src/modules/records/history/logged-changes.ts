import type { LogPorts } from '#control-plane/ports.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { Vault } from '#modules/access/vault/vault.ts';
import type { ReadMessage, EventLog } from '#ports/event-log.ts';
import type { Codec } from '#ports/schemas.ts';
import { type RecordChange, recordsTopic } from '../model/events.ts';
import { isSealed, PayloadOpener } from '../model/sealed-payload.ts';
import type { RecordAccess } from '../services.ts';

/** Offsets closer than this are read through rather than fetched separately. */
const gapMax = 1_000;
const readBytes = 256 * 1024;
const publishedWithinMs = 5_000;

/**
 * The changes at the offsets of a partition, in ascending order of the offsets; null where the log has deleted one.
 * @throws GatewayError `log_unavailable`
 */
export async function* changesAt(
  { log, schemas }: LogPorts,
  partition: number,
  offsets: readonly number[],
): AsyncGenerator<readonly [offset: number, change: RecordChange | null]> {
  const codec = await schemas.codec<RecordChange>(recordsTopic);
  const left = [...new Set(offsets)].sort((a, b) => b - a);
  while (left.length > 0 && (left.at(-1) ?? 0) < 0) yield [left.pop() ?? 0, null];
  while (left.length > 0) {
    const from = { topic: recordsTopic, partition, offset: left.at(-1) ?? 0 };
    let isFar = false;
    for await (const { messages, next } of log.read(from, { maxBytes: readBytes })) {
      for (const message of messages) {
        yield* passed(left, message.offset);
        if (left.at(-1) !== message.offset) continue;
        yield [left.pop() ?? 0, changeIn(codec, message)];
      }
      yield* passed(left, next);
      isFar = (left.at(-1) ?? Infinity) - next > gapMax;
      if (isFar) break;
    }
    // The log ended before them.
    if (!isFar) yield* passed(left, Infinity);
  }
}

/** The messages below the offset are deleted. */
function* passed(left: number[], offset: number): Generator<readonly [number, null]> {
  while ((left.at(-1) ?? Infinity) < offset) yield [left.pop() ?? 0, null];
}

const changeIn = (codec: Codec<RecordChange>, { value }: ReadMessage): RecordChange | null =>
  value === null ? null : codec.decode(value);

/**
 * The changes that the log still has, by their offset.
 * @throws GatewayError `log_unavailable`
 */
export async function changesByOffset(
  deps: LogPorts,
  partition: number,
  offsets: readonly number[],
): Promise<Map<number, RecordChange>> {
  const found = new Map<number, RecordChange>();
  for await (const [offset, change] of changesAt(deps, partition, offsets)) {
    if (change !== null) found.set(offset, change);
  }
  return found;
}

/** JSON in UTF-8; null without a payload, or when its key was destroyed. */
export type PayloadOf = (change: RecordChange) => Promise<Buffer | null>;

/** For the changes of one stream. */
export function payloadsOf({ vault }: { readonly vault: Vault }, streamKey: string): PayloadOf {
  const opener = new PayloadOpener(vault);
  return async ({ payload, payload_encoding: encoding, key_id: keyId, record_id: recordId }) => {
    if (payload === null) return null;
    if (!isSealed(encoding) || keyId === null) return Buffer.from(payload);
    try {
      await vault.ready(keyId);
    } catch (error) {
      if (error instanceof GatewayError && error.code === 'not_found') return null;
      throw error;
    }
    const owner = { key: streamKey, connectionUid: keyId };
    return opener.open(owner, { recordId, encoding, bytes: payload });
  };
}

/**
 * Resolves when the tables have everything of the partition before the offset, its end by default.
 * @throws GatewayError `projection_unavailable` when they are far behind; `log_unavailable`
 */
export async function untilShown(
  { log, records }: { readonly log: EventLog; readonly records: RecordAccess },
  partition: number,
  offset?: number,
): Promise<void> {
  const end = offset ?? (await log.endOffset(recordsTopic, partition));
  const late = AbortSignal.timeout(publishedWithinMs);
  await records.reader.published(partition, end, late).catch((cause: unknown) => {
    throw new GatewayError('projection_unavailable', { retryAfterS: 1 }, { cause });
  });
}
