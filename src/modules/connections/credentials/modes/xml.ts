import { plainText } from '#kernel/json-path.ts';
import { isJsonObject, type Json, type JsonObject } from '#kernel/stable-json.ts';

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};
const escaped = (text: string): string => text.replace(/[&<>"']/g, (mark) => escapes[mark] ?? mark);

/** Parameters as XML: one element per key, several for a list; keys that start with `@` are attributes. */
export function xmlOf(params: JsonObject): string {
  const elements = Object.entries(params).map(([name, value]) => element(name, value));
  return `<?xml version="1.0" encoding="UTF-8"?>${elements.join('')}`;
}

function element(name: string, value: Json): string {
  if (Array.isArray(value)) return value.map((item) => element(name, item as Json)).join('');
  if (!isJsonObject(value)) return `<${name}>${escaped(plainText(value))}</${name}>`;
  const entries = Object.entries(value);
  const attributes = entries
    .filter(([key]) => key.startsWith('@'))
    .map(([key, item]) => ` ${key.slice(1)}="${escaped(plainText(item))}"`);
  const children = entries.filter(([key]) => !key.startsWith('@'));
  const inner = children.map(([key, item]) => element(key, item)).join('');
  return `<${name}${attributes.join('')}>${inner}</${name}>`;
}
