import { createHash, createPublicKey } from 'node:crypto';
import type { FieldSchema } from '#modules/connections/providers/definition.ts';
import { patternOf } from '#modules/connections/providers/pattern.ts';

/** Values by the name that templates call them by: `connectionConfig.subdomain`, `apiKey`, `credentials.user`. */
export type FillValues = Readonly<Record<string, string>>;

/** A template with what is known filled in; what is not known stays as it is written. */
export function fill(template: string, known: FillValues): string {
  let text = template;
  for (;;) {
    const filled = text
      .replace(/\$\{sha256Hex\(\$\{(\w+)\}\)\}/g, (whole, name: string) =>
        known[name] === undefined ? whole : createHash('sha256').update(known[name]).digest('hex'),
      )
      .replace(/\$\{([^${}()]+)\}/g, (whole, name: string) => known[name] ?? whole)
      .replace(/\$\{base64\(([^${}]*)\)\}/g, (_, plain: string) =>
        Buffer.from(plain).toString('base64'),
      )
      .replace(/\$\{fingerprint\(([^${}]*)\)\}/g, (_, pem: string) => fingerprint(pem));
    if (filled === text) return text;
    text = filled;
  }
}

/** Of the public half of a key, as `openssl pkey -pubout -outform der | sha256` has it. */
function fingerprint(pem: string): string {
  const spki = createPublicKey(pem).export({ type: 'spki', format: 'der' });
  return `SHA256:${createHash('sha256').update(spki).digest('base64')}`;
}

export const isFilled = (text: string): boolean => !text.includes('${');

const formats: Readonly<Record<NonNullable<FieldSchema['format']>, RegExp>> = {
  hostname: /^[a-z0-9-]+(\.[a-z0-9-]+)+$/,
  uri: /^https?:\/\//,
  uuid: /^[0-9a-f-]{36}$/,
  email: /^[^@]+@[^@]+$/,
};

const usual = [
  'acme',
  'acme.example',
  '4711',
  'ACME',
  'https://acme.example',
  '6f1c0c6e-5d0b-4d0e-9d57-0a4b3d8c1f11',
  'person@acme.example',
];

/** What a person would type into the field: its default, its example, a choice, or something usual that fits. */
export function typedInto(name: string, field: FieldSchema): string {
  const offered = [field.default_value, field.example, field.enum?.[0]];
  const found = [...offered, ...usual].find((value) => value !== undefined && fits(field, value));
  if (found === undefined) throw new Error(`the field ${name} needs an example that fits it`);
  return found;
}

function fits({ pattern, format, enum: choices }: FieldSchema, value: string): boolean {
  if (choices !== undefined && !choices.includes(value)) return false;
  if (format !== undefined && !formats[format].test(value)) return false;
  return pattern === undefined || patternOf(pattern).test(value);
}
