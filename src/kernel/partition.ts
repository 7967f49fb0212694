/**
 * The partition of a stream: the murmur2 of Kafka's default partitioner over the UTF-8 key, so that any
 * Kafka client that hashes the same text finds the same partition (docs/reference/topics.md#messages).
 */
export function partitionOf(key: string, partitions: number): number {
  return (murmur2(Buffer.from(key)) & 0x7fffffff) % partitions;
}

/** MurmurHash2, 32 bits, seed 0x9747b28c, as Kafka's `Utils.murmur2`. */
export function murmur2(data: Uint8Array): number {
  const mix = 0x5bd1e995;
  const { length } = data;
  let hash = 0x9747b28c ^ length;
  const view = new DataView(data.buffer, data.byteOffset, length);
  const whole = length & ~3;
  for (let at = 0; at < whole; at += 4) {
    let word = Math.imul(view.getUint32(at, true), mix);
    word ^= word >>> 24;
    hash = Math.imul(hash, mix) ^ Math.imul(word, mix);
  }
  const rest = length - whole;
  if (rest === 3) hash ^= view.getUint8(whole + 2) << 16;
  if (rest >= 2) hash ^= view.getUint8(whole + 1) << 8;
  if (rest >= 1) hash = Math.imul(hash ^ view.getUint8(whole), mix);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, mix);
  return hash ^ (hash >>> 15);
}

/** The numbers of a topic's partitions. */
export const partitionNumbers = (count: number): number[] =>
  Array.from({ length: count }, (_, partition) => partition);
