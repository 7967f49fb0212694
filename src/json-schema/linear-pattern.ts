import { RE2JS } from 're2js';

/** Same members as `\s` of ECMAScript, which has more than that of RE2. */
const space = String.raw`\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`;
const notSpace = String.raw`\x{0}-\x{8}\x{e}-\x{1f}!-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`;
const anyChar = String.raw`[^\n\r\x{2028}\x{2029}]`;

/** What RE2 reads otherwise than an ECMAScript expression without the flag `u` does. */
const readOtherwise = /\\[ACEGPQZkpz]|\\x\{|\[:/;

/**
 * The test of a pattern in time linear in the text; null for what has no such test (look-around, back-references,
 * repetitions above 1000) and for what is no pattern.
 */
export function linearTest(pattern: string): ((text: string) => boolean) | null {
  if (!isPattern(pattern, 'u') && (readOtherwise.test(pattern) || !isPattern(pattern, ''))) {
    return null;
  }
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(asEcmaScript(pattern)));
    return (text) => compiled.test(text);
  } catch {
    return null;
  }
}

function isPattern(pattern: string, flags: 'u' | ''): boolean {
  try {
    // oxlint-disable-next-line svc/literal-pattern -- compiled for its syntax, never run
    return new RegExp(pattern, flags) instanceof RegExp;
  } catch {
    return false;
  }
}

function asEcmaScript(pattern: string): string {
  let isInClass = false;
  return pattern.replaceAll(/\\[^]|[.[\]]/g, (token) => {
    if (token === String.raw`\s`) return isInClass ? space : `[${space}]`;
    if (token === String.raw`\S`) return isInClass ? notSpace : `[${notSpace}]`;
    if (token === '.') return isInClass ? token : anyChar;
    if (token === '[' && !isInClass) isInClass = true;
    else if (token === ']') isInClass = false;
    return token;
  });
}
