/** Rules for names in code (docs/glossary.md, "Names in code"). */

/** Nouns that look like participles. */
const nouns = new Set(
  (
    'building ending encoding feed finding framing gathering heading listing logging mapping meaning opening ordering ' +
    'pacing pricing reading recording ring routing seed setting sharding sorting string timing typing warning'
  ).split(' '),
);

/** Irregular participles and other words that say nothing of a value. */
const otherWords = new Set(
  (
    'about around asked at behind born bound by cut done fed former found from given held kept known made met now of on other over own ' +
    'place rest said seen sent shown spoken taken there thrown to together told wanted way where who written'
  ).split(' '),
);

/** @returns whether a type's name of one word may be a noun; names of several words are not judged */
export function isNounlike(name: string): boolean {
  if (!/^[A-Z][a-z]+$/.test(name)) return true;
  const word = name.toLowerCase();
  // A sealed value is a word of the field.
  if (nouns.has(word) || word === 'sealed') return true;
  return !otherWords.has(word) && !/(ed|ing)$/.test(word);
}

const wordsOf = (name: string): string[] =>
  name
    .replace(/^#/, '')
    .split(/(?=[A-Z])|_/)
    .map((word) =>
      word
        .toLowerCase()
        .replace(/(?<=[^aeiou])ies$/, 'y')
        .replace(/(?<=[sxzh])es$|s$/, ''),
    );

/**
 * @param member name of a field or parameter
 * @param type name of its class
 * @returns the problem, null when they share a word
 */
export function classMismatch(member: string, type: string): string | null {
  const words = wordsOf(type);
  if (wordsOf(member).some((word) => words.includes(word))) return null;
  return `"${member}" is a ${type}; name it by its class`;
}
