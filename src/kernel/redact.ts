import { isRawInteger, parseRawJson } from './exact-json.ts';

const removed = '[removed]';

/** Names of fields whose values are secrets, at any depth. */
const secretName =
  /token|secret|passw|api[_-]?key|authorization|cookie|credential|private[_-]?key|signature/i;

export const isSecretName = (name: string): boolean => secretName.test(name);

/** In text a value follows its name: `token=`, `"api_key": "`. */
const nameInText = /[\w-]+/g;
const betweenNameAndValue = /["']?\s*[:=]\s*["']?/y;
const secretNameInText = /token|secret|password|api[_-]?key|authorization/i;
const value = /[^\s"',&}]+/y;

/** Text without anything that looks like a credential: providers often repeat tokens, and functions often log them. */
export function redactText(text: string): string {
  const withoutSchemes = text.replaceAll(/\b(bearer|basic)\s+[\w.~+/=-]{6,}/gi, `$1 ${removed}`);
  return redactNamedValues(withoutSchemes).replaceAll(/:\/\/[^\s/@]+@/g, `://${removed}@`);
}

/** A value that is no secret may contain one: `half way: token=…`. */
function redactNamedValues(text: string): string {
  let clean = '';
  let from = 0;
  for (const { 0: name, index } of text.matchAll(nameInText)) {
    if (index < from || !secretNameInText.test(name)) continue;
    betweenNameAndValue.lastIndex = index + name.length;
    if (!betweenNameAndValue.test(text)) continue;
    value.lastIndex = betweenNameAndValue.lastIndex;
    if (!value.test(text)) continue;
    clean += `${text.slice(from, betweenNameAndValue.lastIndex)}${removed}`;
    from = value.lastIndex;
  }
  return clean + text.slice(from);
}

/**
 * JSON without the values of fields with secret names, and without texts that look like a credential. Text that is
 * no JSON becomes a JSON string.
 */
export function redactJson(json: string): string {
  return JSON.stringify(parsed(json), (key, value: unknown) => {
    if (typeof value === 'string') return secretName.test(key) ? removed : redactText(value);
    const isNumber = typeof value === 'number' || isRawInteger(value);
    return isNumber && secretName.test(key) ? removed : value;
  });
}

function parsed(json: string): unknown {
  try {
    return parseRawJson(json);
  } catch {
    return json;
  }
}
