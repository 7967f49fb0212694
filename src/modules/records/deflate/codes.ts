/** The fixed codes of DEFLATE (RFC 1951 section 3.2.5 and 3.2.6). */

export const matchMin = 3;
export const matchMax = 258;
/** Nothing further back is pointed at. */
export const distanceMax = 32_768;
/** Kind, length, and the length once more inverted. */
export const storedHeadBytes = 5;

/** By value: the bits to write, the lowest first, and how many. */
interface Codes {
  readonly bits: Uint32Array;
  readonly counts: Uint8Array;
}

/** How many bits a packed code has stands in its lowest bits, the code itself above them. */
export const packedCountBits = 5;

/** By code: how many bits follow. */
export const lengthExtras = [
  ...[0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0],
];
const distanceExtras = Array.from({ length: 30 }, (_, code) => Math.max(0, (code >> 1) - 1));

/** By code: the lowest length; the last stands for the longest alone. */
export const lengthBases = basesOf(lengthExtras, matchMin);
lengthBases[28] = matchMax;

/** Literals (up to 255), the end of the block (256) and lengths (257 to 285). */
export const literalCodes = codesOf(288, (value): [code: number, count: number] => {
  if (value < 144) return [0x30 + value, 8];
  if (value < 256) return [0x190 + value - 144, 9];
  return value < 280 ? [value - 256, 7] : [0xc0 + value - 280, 8];
});

export const distanceCodes = {
  ...codesOf(30, (code) => [code, 5]),
  bases: basesOf(distanceExtras, 1),
  extras: distanceExtras,
};

/** By byte, packed. */
export const packedLiterals = Uint32Array.from({ length: 256 }, (_, byte) =>
  packed(literalCodes.bits[byte] ?? 0, literalCodes.counts[byte] ?? 0),
);
/** By length of a match: its code with the extra bits, at most 13, packed. */
export const packedLengths = packedRanges(matchMax, 29, (code) => ({
  base: lengthBases[code] ?? 0,
  bits: literalCodes.bits[257 + code] ?? 0,
  count: literalCodes.counts[257 + code] ?? 0,
  extra: lengthExtras[code] ?? 0,
}));
/** By distance of a match: its code with the extra bits, at most 18, packed. */
export const packedDistances = packedRanges(distanceMax, 30, (code) => ({
  base: distanceCodes.bases[code] ?? 0,
  bits: distanceCodes.bits[code] ?? 0,
  count: distanceCodes.counts[code] ?? 0,
  extra: distanceExtras[code] ?? 0,
}));

function packed(bits: number, count: number): number {
  return (bits << packedCountBits) | count;
}

/** By value up to `max`: of the codes of ranges that of the last which has it, with the rest as extra bits. */
function packedRanges(
  max: number,
  codes: number,
  ref: (code: number) => { base: number; bits: number; count: number; extra: number },
): Uint32Array {
  const all = new Uint32Array(max + 1);
  for (let code = 0; code < codes; code++) {
    const { base, bits, count, extra } = ref(code);
    for (let more = 0; more < 1 << extra && base + more <= max; more++) {
      all[base + more] = packed(bits | (more << count), count + extra);
    }
  }
  return all;
}

function basesOf(extras: readonly number[], first: number): number[] {
  let base = first;
  return extras.map((extra) => {
    const own = base;
    base += 1 << extra;
    return own;
  });
}

/** Codes are defined highest bit first. */
function codesOf(size: number, ref: (value: number) => [code: number, count: number]): Codes {
  const codes: Codes = { bits: new Uint32Array(size), counts: new Uint8Array(size) };
  for (let value = 0; value < size; value++) {
    const [code, count] = ref(value);
    codes.counts[value] = count;
    for (let at = 0; at < count; at++) {
      codes.bits[value] = (codes.bits[value] ?? 0) | (((code >> at) & 1) << (count - 1 - at));
    }
  }
  return codes;
}
