const removed = '[removed]';

/** Names of fields whose values are secrets, wherever they stand. */
const secretName =
  /token|secret|passw|api[_-]?key|authorization|cookie|credential|private[_-]?key|signature/i;

export const isSecretName = (name: string): boolean => secretName.test(name);

/** The same before a value in text: `token=…`, `"api_key": "…"`. */
const namedValue = /(?<![\w-])([\w-]+)(["']?\s*[:=]\s*["']?)[^\s"',&}]+/g;
const secretNameInText = /token|secret|password|api[_-]?key|authorization/i;

/** Text without what looks like a credential: providers like to repeat tokens, and functions to log them. */
export function redactText(text: string): string {
  return text
    .replaceAll(/\b(bearer|basic)\s+[\w.~+/=-]{6,}/gi, `$1 ${removed}`)
    .replaceAll(namedValue, (all, name: string, separator: string) =>
      secretNameInText.test(name) ? `${name}${separator}${removed}` : all,
    )
    .replaceAll(/:\/\/[^\s/@]+@/g, `://${removed}@`);
}

/**
 * JSON without the values of fields that are named like secrets, and without what looks like one in other texts. Text
 * that is no JSON becomes a JSON string.
 */
export function redactJson(json: string): string {
  return JSON.stringify(parsed(json), (key, value: unknown) => {
    if (typeof value === 'string') return secretName.test(key) ? removed : redactText(value);
    return typeof value === 'number' && secretName.test(key) ? removed : value;
  });
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}
