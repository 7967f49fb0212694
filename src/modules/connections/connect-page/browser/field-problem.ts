import type { Translate } from '#modules/access/connect-ui/texts/translate.ts';
import { patternOf } from '../../providers/pattern.ts';
import type { FormField } from './field.ts';
import { isAsked, type FieldValues } from './form.ts';

/**
 * The same rules as in the service (src/modules/connections/providers/field-check.ts), checked before the request.
 */
const formats = {
  hostname: { rule: /^(?=.{1,253}$)[a-z0-9-]+(\.[a-z0-9-]+)*$/i, text: 'fieldHostname' },
  uri: { rule: /^[a-z][a-z0-9+.-]*:\S+$/i, text: 'fieldUri' },
  uuid: { rule: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, text: 'fieldUuid' },
  email: { rule: /^[^@\s]+@[^@\s]+$/, text: 'fieldEmail' },
} as const;

export type FieldProblems = ReadonlyMap<FormField, string>;

/** The error of each field, as a sentence that names it; empty when all are valid. */
export function fieldProblems(values: FieldValues, t: Translate): FieldProblems {
  const problems = new Map<FormField, string>();
  for (const [field, value] of values) {
    const problem = isAsked(field, values) ? problemOf(field, value, t) : null;
    if (problem !== null) problems.set(field, problem);
  }
  return problems;
}

function problemOf(field: FormField, value: string, t: Translate): string | null {
  const { title, format, pattern, example, maxLength: max } = field;
  if (value === '') {
    const missing = field.choices === null ? 'fieldRequired' : 'fieldChoice';
    return field.isOptional ? null : t(missing, { field: title });
  }
  if (value.length > max) return t('fieldLong', { field: title, max });
  if (field.choices !== null && !field.choices.some((choice) => choice.value === value)) {
    return t('fieldChoice', { field: title });
  }
  if (format && !formats[format].rule.test(value)) return t(formats[format].text, { field: title });
  if (pattern === null || patternOf(pattern).test(value)) return null;
  const key = example === '' ? 'fieldPattern' : 'fieldPatternExample';
  return t(key, { field: title, example });
}

/** An issue of the service's response (docs/reference/errors.md#body). */
export interface Issue {
  readonly message: string;
  readonly path: readonly string[];
}

/** Assigns the service's issues to the fields that they name; the others appear in the message above the form. */
export function problemsOfIssues(
  fields: readonly FormField[],
  issues: readonly Issue[],
  t: Translate,
): FieldProblems {
  const problems = new Map<FormField, string>();
  for (const { path, message } of issues) {
    const field = fields.find(({ name }) => name === path.at(-1));
    if (field === undefined || problems.has(field)) continue;
    problems.set(field, t('fieldRefused', { field: field.title, message }));
  }
  return problems;
}
