/** The fixed codes of DEFLATE (RFC 1951 section 3.2.5 and 3.2.6). */

export const matchMin = 3;
export const matchMax = 258;
/** Kind, length, and the length once more inverted. */
export const storedHeadBytes = 5;

/** By value: the bits to write, the lowest first, and how many. */
export interface Codes {
  readonly bits: Uint32Array;
  readonly counts: Uint8Array;
}

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

/** By length of a match: the code with its extra bits. */
export const matchCodes: Codes = { bits: new Uint32Array(259), counts: new Uint8Array(259) };
for (let length = matchMin; length <= matchMax; length++) {
  let code = 28;
  while ((lengthBases[code] ?? 0) > length) code--;
  const count = literalCodes.counts[257 + code] ?? 0;
  const extra = length - (lengthBases[code] ?? 0);
  matchCodes.bits[length] = (literalCodes.bits[257 + code] ?? 0) | (extra << count);
  matchCodes.counts[length] = count + (lengthExtras[code] ?? 0);
}

const distanceBases = basesOf(distanceExtras, 1);
const nearCodes = Uint8Array.from({ length: 257 }, (_, distance) => codeOf(distance));
/** By whole 128s of distances above 256. */
const farCodes = Uint8Array.from({ length: 256 }, (_, far) => codeOf(far * 128 + 1));

export const distanceCodes = {
  ...codesOf(30, (code) => [code, 5]),
  bases: distanceBases,
  extras: distanceExtras,
  of: (distance: number): number =>
    (distance <= 256 ? nearCodes[distance] : farCodes[(distance - 1) >> 7]) ?? 0,
};

function codeOf(distance: number): number {
  let code = 29;
  while (code > 0 && (distanceBases[code] ?? 0) > distance) code--;
  return code;
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
function codesOf(size: number, of: (value: number) => [code: number, count: number]): Codes {
  const codes: Codes = { bits: new Uint32Array(size), counts: new Uint8Array(size) };
  for (let value = 0; value < size; value++) {
    const [code, count] = of(value);
    codes.counts[value] = count;
    for (let at = 0; at < count; at++) {
      codes.bits[value] = (codes.bits[value] ?? 0) | (((code >> at) & 1) << (count - 1 - at));
    }
  }
  return codes;
}
