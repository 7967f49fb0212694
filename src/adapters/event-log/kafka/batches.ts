import type { Message } from '#ports/event-log.ts';

/** Values of one record batch, before compression; a single larger message gets a batch of its own. */
export const batchBytesMax = 1024 ** 2;
const batchMessagesMax = 5_000;

/** Approximate size of a message in a batch. */
export function sizeOf({ key, value, headers }: Message): number {
  let bytes = 16 + key.length + (value?.length ?? 0);
  for (const name in headers) bytes += name.length + (headers[name]?.length ?? 0) + 2;
  return bytes;
}

/** The messages from `from` on that fit into one batch: the end index and the approximate size. */
export function fitting(
  messages: readonly Message[],
  from: number,
): { readonly to: number; readonly bytes: number } {
  let target = from;
  let bytes = 0;
  for (const message of messages.slice(from, from + batchMessagesMax)) {
    const more = sizeOf(message);
    if (bytes + more > batchBytesMax && target > from) break;
    bytes += more;
    target++;
  }
  return { to: target, bytes };
}
