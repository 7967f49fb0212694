import { limits } from '#kernel/limits.ts';
import type { EventLog, ReadMessage } from '#ports/event-log.ts';

/** A part of a partition: from `from`, before `to`. */
export interface Stretch {
  readonly topic: string;
  readonly partition: number;
  readonly from: number;
  readonly to: number;
}

export interface PartitionMessage extends ReadMessage {
  readonly partition: number;
}

/** What ends the search in each partition; one step is always made. */
export interface Bounds {
  /** Messages of the page. */
  readonly limit: number;
  /** Aborted when the time is over, or the client has gone. */
  readonly signal: AbortSignal;
  readonly isWanted: (message: ReadMessage) => boolean;
}

export interface Page {
  /** In the order of their times, those of one partition in the order of their offsets. */
  readonly messages: readonly PartitionMessage[];
  /** In the order of the stretches: what is left of each. */
  readonly rest: readonly Stretch[];
}

/** What was found in one stretch, in the order of the page, and what was not searched. */
interface StretchResult {
  readonly messages: readonly PartitionMessage[];
  readonly rest: Stretch;
}

/** The oldest messages of the stretches. */
export async function oldestMessages(
  log: Pick<EventLog, 'read'>,
  stretches: readonly Stretch[],
  bounds: Bounds,
): Promise<Page> {
  const found = await Promise.all(stretches.map((stretch) => forwards(log, stretch, bounds)));
  const isFirst = (a: ReadMessage, b: ReadMessage): boolean => a.timestamp < b.timestamp;
  return merged(found, bounds.limit, isFirst, (rest, { offset }) => ({ ...rest, from: offset }));
}

/** The newest messages of the stretches, newest first. */
export async function newestMessages(
  log: Pick<EventLog, 'read'>,
  stretches: readonly Stretch[],
  bounds: Bounds,
): Promise<Page> {
  // Together the stretches hold no more than this in memory, unless single messages are larger.
  const windowBytes = Math.max(windowBytesMin, Math.floor(windowBytesMax / stretches.length));
  const found = await Promise.all(
    stretches.map((stretch) => backwards(log, stretch, bounds, windowBytes)),
  );
  const isFirst = (a: ReadMessage, b: ReadMessage): boolean => a.timestamp > b.timestamp;
  return merged(found, bounds.limit, isFirst, (rest, { offset }) => ({ ...rest, to: offset + 1 }));
}

/** @param unlike the rest of a stretch when this message of it is not taken */
function merged(
  found: readonly StretchResult[],
  limit: number,
  isFirst: (a: ReadMessage, b: ReadMessage) => boolean,
  unlike: (rest: Stretch, message: ReadMessage) => Stretch,
): Page {
  const taken = found.map(() => 0);
  const messages: PartitionMessage[] = [];
  for (let bytes = 0; messages.length < limit;) {
    let first = -1;
    for (const [at, one] of found.entries()) {
      const next = one.messages[taken[at] ?? 0];
      if (next === undefined) continue;
      const best = found[first]?.messages[taken[first] ?? 0];
      if (best === undefined || isFirst(next, best)) first = at;
    }
    const message = found[first]?.messages[taken[first] ?? 0];
    if (message === undefined) break;
    bytes += bytesOf(message);
    if (messages.length > 0 && bytes > limits.topicMessagesBytesMax) break;
    messages.push(message);
    taken[first] = (taken[first] ?? 0) + 1;
  }
  const rest = found.map((one, at) => {
    const left = one.messages[taken[at] ?? 0];
    return left === undefined ? one.rest : unlike(one.rest, left);
  });
  return { messages, rest };
}

const bytesOf = ({ key, value }: ReadMessage): number => key.length + (value?.length ?? 0);

const batchBytesMax = 256 * 1024;

async function forwards(
  log: Pick<EventLog, 'read'>,
  stretch: Stretch,
  { limit, signal, isWanted }: Bounds,
): Promise<StretchResult> {
  const { topic, partition, from, to } = stretch;
  const messages: PartitionMessage[] = [];
  let bytes = 0;
  let next = from;
  const rest = (offset: number): Stretch => ({ ...stretch, from: Math.min(offset, to) });
  if (from >= to) return { messages, rest: stretch };
  for await (const batch of log.read(
    { topic, partition, offset: from },
    { maxBytes: batchBytesMax },
  )) {
    for (const message of batch.messages) {
      if (message.offset >= to) return { messages, rest: rest(to) };
      next = message.offset + 1;
      if (!isWanted(message)) continue;
      messages.push({ ...shownFields(message), partition });
      bytes += bytesOf(message);
      if (messages.length === limit || bytes > limits.topicMessagesBytesMax) {
        return { messages, rest: rest(next) };
      }
    }
    next = batch.next;
    if (next >= to || signal.aborted) return { messages, rest: rest(next) };
  }
  return { messages, rest: rest(to) };
}

const windowBytesMax = 16 * 1024 ** 2;
const windowBytesMin = 256 * 1024;
const windowMessagesMax = 2_000;
const windowOffsetsMax = 2 ** 30;

/**
 * Reads windows of offsets from the end towards the start. Offsets have gaps, of any length where a topic is
 * compacted: a window grows while there is little in it, and is halved when it holds too much for the memory.
 */
async function backwards(
  log: Pick<EventLog, 'read'>,
  stretch: Stretch,
  { limit, signal, isWanted }: Bounds,
  windowBytes: number,
): Promise<StretchResult> {
  const messages: PartitionMessage[] = [];
  let bytes = 0;
  let to = stretch.to;
  let offsets = limit;
  const isOver = (): boolean =>
    messages.length >= limit || bytes > limits.topicMessagesBytesMax || signal.aborted;
  /** From here to `to` there is too much for the memory. */
  let tooFar = stretch.from - 1;
  while (to > stretch.from) {
    const half = tooFar < stretch.from ? tooFar : tooFar + Math.ceil((to - tooFar) / 2);
    const from = Math.min(to - 1, Math.max(stretch.from, to - offsets, half));
    const window = await messagesOf(log, { ...stretch, from, to }, windowBytes);
    if (window === null) {
      tooFar = from;
      continue;
    }
    to = from;
    for (const message of window.filter(isWanted).reverse()) {
      messages.push({ ...shownFields(message), partition: stretch.partition });
      bytes += bytesOf(message);
      if (messages.length < limit && bytes <= limits.topicMessagesBytesMax) continue;
      to = message.offset;
      break;
    }
    if (isOver()) break;
    offsets = Math.min(offsets * 4, windowOffsetsMax);
    if (to <= tooFar) tooFar = stretch.from - 1;
  }
  return { messages, rest: { ...stretch, to } };
}

/** The messages of the stretch; null: they are too many or too large, and the stretch has more than one offset. */
async function messagesOf(
  log: Pick<EventLog, 'read'>,
  { topic, partition, from, to }: Stretch,
  bytesMax: number,
): Promise<ReadMessage[] | null> {
  const found: ReadMessage[] = [];
  let bytes = 0;
  const maxBytes = Math.min(bytesMax, batchBytesMax);
  for await (const batch of log.read({ topic, partition, offset: from }, { maxBytes })) {
    for (const message of batch.messages) {
      if (message.offset >= to) return found;
      found.push(message);
      bytes += bytesOf(message);
      const isTooMuch = bytes > bytesMax || found.length > windowMessagesMax;
      if (isTooMuch && to - from > 1) return null;
    }
    if (batch.next >= to) return found;
  }
  return found;
}

/** Copies the fields, some of which a log may compute when they are read. */
const shownFields = ({ offset, key, value, headers, timestamp }: ReadMessage): ReadMessage => ({
  offset,
  key,
  value,
  headers,
  timestamp,
});
