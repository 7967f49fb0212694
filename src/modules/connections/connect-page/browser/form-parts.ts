import type { Translate } from '#modules/access/connect-ui/texts/translate.ts';
import { h, setAttribute } from './dom.ts';
import type { FieldProblems } from './field-problem.ts';
import { fieldRow, type FieldRow } from './field-row.ts';
import { isAsked, type ConnectForm, type FieldValues } from './form.ts';

/** The elements of a form and their operations. */
export interface FormParts {
  readonly rows: readonly FieldRow[];
  /** Lists the fields with errors. */
  readonly summary: HTMLElement;
  readonly submit: HTMLElement;
  values(): FieldValues;
  /** Shows the error at each field, and moves the focus to the first. */
  showProblems(problems: FieldProblems): void;
  isBusy(): boolean;
  setBusy(isBusy: boolean): void;
}

/** @param kept the input by part and name; kept up to date */
export function formParts(form: ConnectForm, kept: Map<string, string>, t: Translate): FormParts {
  const summary = h('p', { class: 'summary', role: 'alert' });
  const submit = h('button', { type: 'submit', class: 'primary' }, t('connect'));
  const keyOf = ({ part, name }: FieldRow['field']): string => `${part}.${name}`;
  const rows = form.fields.map((field) => {
    const value = kept.get(keyOf(field)) ?? field.initial;
    return fieldRow(field, { value, t, onInput: () => update() });
  });
  const values = (): FieldValues => new Map(rows.map((row) => [row.field, row.value()]));
  function update(): void {
    const present = values();
    for (const row of rows) {
      kept.set(keyOf(row.field), row.value());
      row.setShown(isAsked(row.field, present));
    }
  }
  update();
  let isBusy = false;
  return {
    rows,
    summary,
    submit,
    values,
    showProblems(problems) {
      for (const row of rows) row.setProblem(problems.get(row.field) ?? null);
      const wrong = rows.filter(({ field }) => problems.has(field));
      const titles = wrong.map(({ field }) => field.title).join(', ');
      summary.textContent = wrong.length === 0 ? '' : t('checkFields', { fields: titles });
      wrong[0]?.focus();
    },
    isBusy: () => isBusy,
    setBusy(next) {
      isBusy = next;
      setAttribute(submit, 'aria-disabled', isBusy ? 'true' : null);
      submit.textContent = t(isBusy ? 'connecting' : 'connect');
    },
  };
}
