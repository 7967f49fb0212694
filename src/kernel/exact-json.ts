/**
 * JSON with integers that a number cannot hold (docs/reference/functions.md#large-integers): what is read gets the text of
 * their digits, and what is passed on is written with the same digits.
 */

/** Digits of the shortest integer that a number may not hold. */
const digitsMin = 16;
/** What precedes a value: most JSON with so many digits has them within its strings, and needs no second look. */
const valueStart = /[[:,\s-]/;
const integer = /^-?[1-9]\d*$/;
/** A text of JSON, or a long number outside of texts. The end of a text is optional, so that no match is attempted in vain. */
const textOrLongNumber = /"[^"\\]*(?:\\[^][^"\\]*)*"?|[-+.\deE]{16,}/g;
/** A number is no name of a field: the JSON stays invalid. */
const nameEnd = /\s*:/y;

/** Both are newer than Node 20, where the command line and `svc/testing` also run. */
const native = JSON as unknown as {
  readonly rawJSON?: (text: string) => unknown;
  readonly isRawJSON?: (value: unknown) => boolean;
};

/** Whether the JSON text may have an integer beyond ±(2^53 − 1). Looks at every 16th character, because all JSON is asked. */
export function mayLoseDigits(json: string): boolean {
  for (let at = digitsMin - 1; at < json.length; at += digitsMin) {
    if (!isDigit(json.charCodeAt(at))) continue;
    let start = at;
    while (isDigit(json.charCodeAt(start - 1))) start -= 1;
    while (isDigit(json.charCodeAt(at + 1))) at += 1;
    const isLong = at - start + 1 >= digitsMin;
    if (isLong && (start === 0 || valueStart.test(json.charAt(start - 1)))) return true;
  }
  return false;
}

/** Not a number: no character. */
const isDigit = (code: number): boolean => code >= 48 && code <= 57;

/**
 * The value of JSON text, in which an integer beyond ±(2^53 − 1) is the text of its digits: a number would hold
 * another one.
 * @throws SyntaxError
 */
export const parseExactJson = (json: string): unknown => parseQuoted(json, isLarge);

/**
 * As `parseExactJson`, for JSON that a function may have written: a number that it wrote is the same number, whatever its size.
 */
export const parseWrittenJson = (json: string): unknown =>
  parseQuoted(json, (digits) => String(Number(digits)) !== digits);

/**
 * As `parseExactJson`, for values that only `JSON.stringify` reads: it writes the integer as it was. Such a value is lost when
 * it is cloned, as for another thread.
 */
export function parseRawJson(json: string): unknown {
  if (native.rawJSON === undefined || !mayLoseDigits(json)) return parseExactJson(json);
  // The engine could give the source of each number, but slowly, and by recursion.
  const mark = absentFrom(json);
  const root = { value: parseQuoted(json, isLarge, mark) };
  const pending: object[] = [root];
  for (let holder = pending.pop(); holder !== undefined; holder = pending.pop()) {
    for (const [name, value] of Object.entries(holder) as [string, unknown][]) {
      if (typeof value === 'object' && value !== null) pending.push(value);
      if (typeof value !== 'string' || !value.startsWith(mark)) continue;
      // An assignment to `__proto__` would make no field.
      Object.defineProperty(holder, name, { value: rawInteger(value.slice(mark.length)) });
    }
  }
  return root.value;
}

/** Characters that no text of the JSON has, in whichever spelling. */
function absentFrom(json: string): string {
  const spelled = json.replaceAll(/\\u007e/gi, '~');
  let absent = '~';
  while (spelled.includes(absent)) absent += absent;
  return absent;
}

const isLarge = (digits: string): boolean => !Number.isSafeInteger(Number(digits));

function parseQuoted(json: string, isText: (digits: string) => boolean, mark = ''): unknown {
  if (!mayLoseDigits(json)) return JSON.parse(json) as unknown;
  const quoted = json.replaceAll(textOrLongNumber, (token: string, at: number) => {
    if (token.startsWith('"') || !integer.test(token) || !isText(token)) return token;
    nameEnd.lastIndex = at + token.length;
    return nameEnd.test(json) ? token : `"${mark}${token}"`;
  });
  try {
    return JSON.parse(quoted) as unknown;
  } catch {
    // Its error is that of the original text.
    return JSON.parse(json) as unknown;
  }
}

/** Written by `JSON.stringify` as the digits that it is. The types of the language do not have it yet. */
export const rawInteger = (digits: string): unknown => native.rawJSON?.(digits) ?? digits;

/** Its prototype is null, as that of few other objects: most need no question to the engine. */
export const isRawInteger = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  Object.getPrototypeOf(value) === null &&
  native.isRawJSON?.(value) === true;
