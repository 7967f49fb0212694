/**
 * Characters that command a terminal, reorder the text around them, or are invisible: controls, the controls of
 * bidirectional text, and what is ignored by default (Unicode, DerivedCoreProperties). Joiners and variation selectors are
 * parts of words and emoji, and stay.
 */
const unprintable =
  /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Cs}\ufff9-\ufffb]|(?![\u200c\u200d\ufe00-\ufe0f])\p{Default_Ignorable_Code_Point}/gu;

const hex = (unit: number, digits: number): string => unit.toString(16).padStart(digits, '0');

/** As JSON writes it, by UTF-16 units. */
const escaped = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${hex(character.charCodeAt(at), 4)}`,
  ).join('');

/** Text from outside on one line, without characters that would control the terminal. */
export const printable = (text: string): string =>
  text.replaceAll(unprintable, (character) => {
    const unit = character.charCodeAt(0);
    return unit <= 0xff ? `\\x${hex(unit, 2)}` : escaped(character);
  });

/**
 * Output as a whole: lines and tabs stay, everything else is escaped as in JSON, so that a document of JSON stays the same
 * document.
 */
export const printableLines = (text: string): string =>
  text.replaceAll(unprintable, (character) =>
    character === '\n' || character === '\t' ? character : escaped(character),
  );
