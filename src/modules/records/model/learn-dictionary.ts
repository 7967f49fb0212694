/** A member's name with its quotes and colon; a word with the sign after it; a sign. */
const pieces = /"(?:[^"\\]|\\.)*":|[\p{L}\p{N}]+[^\p{L}\p{N}"]?|[^\p{L}\p{N}]/gu;
/** A piece that fewer samples have may be of one record alone, which can be pruned while others keep the dictionary. */
const sharedMin = 3;
const sharedShare = 1 / 32;
/** What so many have stands together in their order, so that one match spans it. */
const commonShare = 3 / 4;
const pieceBytesMin = 3;
/** A dictionary travels with each payload: what is worth less than these bytes costs more than it saves. */
const learntBytesMax = 640;

/**
 * What many of the texts share: names, words and the order of what nearly all have. Nothing that one text has
 * alone is in it. Empty when they share too little.
 */
export function learnDictionary(texts: readonly string[]): Buffer {
  const split = texts.map((text) => text.match(pieces) ?? []);
  const counts = new Map<string, number>();
  for (const some of split) {
    for (const piece of new Set(some)) counts.set(piece, (counts.get(piece) ?? 0) + 1);
  }
  const commonMin = Math.max(sharedMin, texts.length * commonShare);
  const frames = split.map((some) =>
    some.filter((piece) => (counts.get(piece) ?? 0) >= commonMin).join(''),
  );
  // Neither that of a text that repeats itself nor that of one that lacks much.
  const frame = frames.sort((a, b) => a.length - b.length)[frames.length >> 1] ?? '';
  const enough = Math.max(sharedMin, texts.length * sharedShare);
  const shared = [...counts]
    .filter(([piece, count]) => count >= enough && piece.length >= pieceBytesMin)
    .filter(([piece]) => !frame.includes(piece))
    .map(([piece, count]) => ({ piece, worth: count * piece.length }))
    .sort((a, b) => a.worth - b.worth);
  // The nearest costs least to point at, and what is too much is cut off at the front.
  const bytes = Buffer.from(shared.map(({ piece }) => piece).join('') + frame);
  return bytes.subarray(Math.max(0, bytes.length - learntBytesMax));
}
