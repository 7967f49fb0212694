import type { Translate } from '#modules/access/connect-ui/texts/translate.ts';
import { h, setAttribute } from './dom.ts';
import type { FormField } from './field.ts';

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

export interface FieldRow {
  readonly field: FormField;
  readonly element: HTMLElement;
  value(): string;
  setProblem(problem: string | null): void;
  setShown(isShown: boolean): void;
  focus(): void;
}

/** A label, its control, its help text, and its error. */
export function fieldRow(
  field: FormField,
  {
    value,
    t,
    onInput,
  }: { readonly value: string; readonly t: Translate; readonly onInput: () => void },
): FieldRow {
  const id = `field-${field.part}-${field.name}`;
  const error = h('p', { id: `${id}-error`, class: 'error', hidden: true });
  const hint = h('p', { id: `${id}-hint`, class: 'hint' }, ...hintOf(field));
  const control = controlOf(field, id, value, t);
  control.addEventListener('input', onInput);
  const describe = (hasError: boolean): void => {
    const ids = [hasError ? error.id : '', hint.textContent === '' ? '' : hint.id];
    setAttribute(control, 'aria-describedby', ids.join(' ').trim() || null);
  };
  describe(false);
  const optional = field.isOptional
    ? h('span', { class: 'optional' }, ` (${t('optional')})`)
    : null;
  const element = h(
    'div',
    { class: 'field' },
    h('label', { for: id }, field.title, optional),
    h(
      'div',
      { class: 'control' },
      field.prefix === ''
        ? null
        : h('span', { class: 'affix', 'aria-hidden': 'true' }, field.prefix),
      control,
      field.suffix === ''
        ? null
        : h('span', { class: 'affix', 'aria-hidden': 'true' }, field.suffix),
      field.isSecret ? revealButton(field, control, t) : null,
    ),
    hint.textContent === '' ? null : hint,
    error,
  );
  return {
    field,
    element,
    // Pasted text often contains a line end or a space.
    value: () => (field.name === 'password' ? control.value : control.value.trim()),
    setProblem(problem) {
      error.textContent = problem ?? '';
      setAttribute(error, 'hidden', problem === null);
      setAttribute(control, 'aria-invalid', problem === null ? null : 'true');
      describe(problem !== null);
    },
    setShown: (isShown) => setAttribute(element, 'hidden', !isShown),
    focus: () => control.focus(),
  };
}

/** The help text of the field; prefix and suffix of the control are announced from here. */
function hintOf({ description, prefix, suffix, example }: FormField): Node[] {
  const isWhole = prefix === '' && suffix === '';
  const seen = [description, isWhole && example !== '' ? `(${example})` : ''].filter(
    (part) => part !== '',
  );
  const unseen = isWhole ? [] : [h('span', { class: 'unseen' }, ` ${prefix}…${suffix}`)];
  return [document.createTextNode(seen.join(' ')), ...unseen];
}

function controlOf(field: FormField, id: string, value: string, t: Translate): Control {
  const common = {
    id,
    name: field.name,
    autocomplete: field.autocomplete,
    'aria-required': field.isOptional ? null : 'true',
  };
  if (field.choices !== null) {
    const options = field.choices.map((choice) =>
      h('option', { value: choice, selected: choice === value }, choice),
    );
    return h('select', common, h('option', { value: '' }, t('choose')), ...options);
  }
  const written = { autocapitalize: 'off', autocorrect: 'off', spellcheck: 'false' };
  if (field.isLong) {
    const area = h('textarea', { ...common, ...written, rows: 5 });
    area.value = value;
    area.classList.toggle('masked', field.isSecret);
    return area;
  }
  const type = field.isSecret ? 'password' : field.format === 'email' ? 'email' : 'text';
  const inputmode = field.format === 'uri' ? 'url' : null;
  const input = h('input', {
    ...common,
    ...written,
    type,
    inputmode,
    placeholder: field.example || null,
  });
  input.value = value;
  return input;
}

function revealButton(field: FormField, control: Control, t: Translate): HTMLElement {
  let isShown = false;
  const button = h('button', { type: 'button', class: 'reveal', 'aria-controls': control.id });
  const draw = (): void => {
    const label = t(isShown ? 'hide' : 'show', { field: field.title });
    setAttribute(button, 'aria-label', label);
    setAttribute(button, 'title', label);
    setAttribute(button, 'aria-pressed', String(isShown));
  };
  button.addEventListener('click', () => {
    isShown = !isShown;
    if (control instanceof HTMLInputElement) control.type = isShown ? 'text' : 'password';
    else control.classList.toggle('masked', !isShown);
    draw();
  });
  draw();
  return button;
}
