import type { TextKey } from '#modules/access/connect-ui/texts/en.ts';
import type { LocalizedField } from '../../providers/definition.ts';

/** The position of the field's value in the request (docs/reference/http.md#credential-forms). */
export type FieldPart = 'credentials' | 'params' | 'assertion';

/** A field of a form. */
export interface FormField {
  readonly name: string;
  readonly part: FieldPart;
  /** In the user's language. */
  readonly title: string;
  readonly description: string;
  readonly isSecret: boolean;
  readonly isOptional: boolean;
  /** Several lines: keys in PEM. */
  readonly isLong: boolean;
  readonly choices: readonly { readonly value: string; readonly title: string }[] | null;
  /** Shown below the description. */
  readonly warnings: readonly string[];
  readonly initial: string;
  readonly example: string;
  readonly prefix: string;
  readonly suffix: string;
  readonly pattern: string | null;
  readonly format: LocalizedField['format'] | null;
  readonly maxLength: number;
  /** Value of the `autocomplete` attribute (HTML, 4.10.18.7). */
  readonly autocomplete: string;
  /** Shown only while another field has this value. */
  readonly onlyWhen: { readonly field: string; readonly equals: string } | null;
}

/** Defaults of a field that the provider's definition does not describe. */
export interface KnownField {
  readonly title: TextKey;
  readonly isSecret?: true;
  readonly isOptional?: true;
  readonly maxLength?: number;
}

const maxLengthDefault = 8192;
const secretNames =
  /^(api_?key|password|.*secret|token_.*|.*private_?key|client_certificate|dev_?key)$/i;
const longNames = /(private_?key|certificate)$/i;

/** @param title in the user's language, for a field whose schema has none */
export function formField(
  name: string,
  part: FieldPart,
  schema: Partial<LocalizedField>,
  { title, known }: { readonly title: string; readonly known?: KnownField | undefined },
): FormField {
  const isSecret =
    schema.secret ?? known?.isSecret ?? (part !== 'params' && secretNames.test(name));
  return {
    name,
    part,
    title: schema.title ?? title,
    description: schema.description ?? '',
    isSecret,
    isOptional: schema.optional ?? known?.isOptional ?? false,
    isLong: longNames.test(name) && !/id$/i.test(name),
    choices:
      schema.enum?.map((value) => ({ value, title: schema.enum_titles?.[value] ?? value })) ?? null,
    warnings: schema.warnings ?? [],
    initial: schema.default_value ?? '',
    example: schema.example ?? '',
    prefix: schema.prefix ?? '',
    suffix: schema.suffix ?? '',
    pattern: schema.pattern ?? null,
    format: schema.format ?? null,
    maxLength: known?.maxLength ?? maxLengthDefault,
    autocomplete: autocompleteOf(name, schema, isSecret),
    onlyWhen: schema.visible_when ?? null,
  };
}

function autocompleteOf(
  name: string,
  { format }: Partial<LocalizedField>,
  isSecret: boolean,
): string {
  if (name === 'username') return 'username';
  if (name === 'password') return 'current-password';
  if (isSecret) return 'off';
  if (format === 'email') return 'email';
  if (format === 'uri') return 'url';
  return 'off';
}
