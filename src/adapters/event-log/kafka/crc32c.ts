/** Castagnoli's polynomial, reversed. */
const polynomial = 0x82f63b78;

/** `tables[k][b]`: the checksum of byte b followed by k zero bytes. */
const tables = tablesOf(8);

function tablesOf(count: number): Int32Array[] {
  const first = new Int32Array(256).map((_, byte) => {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 1 ? (crc >>> 1) ^ polynomial : crc >>> 1;
    return crc;
  });
  const made = [first];
  while (made.length < count) {
    made.push(made.at(-1)?.map((crc) => (crc >>> 8) ^ (first[crc & 0xff] ?? 0)) ?? first);
  }
  return made;
}

const [t0, t1, t2, t3, t4, t5, t6, t7] = tables as [
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
];

/** CRC-32C, eight bytes at a time: the checksum of a record batch. */
export function crc32c(bytes: Buffer): number {
  let crc = -1;
  let at = 0;
  const end = bytes.length - 7;
  for (; at < end; at += 8) {
    const low = crc ^ bytes.readInt32LE(at);
    const high = bytes.readInt32LE(at + 4);
    crc =
      (t7[low & 0xff] ?? 0) ^
      (t6[(low >>> 8) & 0xff] ?? 0) ^
      (t5[(low >>> 16) & 0xff] ?? 0) ^
      (t4[low >>> 24] ?? 0) ^
      (t3[high & 0xff] ?? 0) ^
      (t2[(high >>> 8) & 0xff] ?? 0) ^
      (t1[(high >>> 16) & 0xff] ?? 0) ^
      (t0[high >>> 24] ?? 0);
  }
  for (; at < bytes.length; at++) crc = (t0[(crc ^ (bytes[at] ?? 0)) & 0xff] ?? 0) ^ (crc >>> 8);
  return ~crc >>> 0;
}
