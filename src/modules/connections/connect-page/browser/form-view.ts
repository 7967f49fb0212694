import type { Translate } from '#modules/access/connect-ui/texts/translate.ts';
import { ConnectError, type Failure, type Integration } from './api.ts';
import type { App, PageLanguage, View, ViewContent } from './app.ts';
import { h, setAttribute } from './dom.ts';
import { failureBox } from './failure-box.ts';
import { isExpired } from './failure-text.ts';
import { fieldProblems, problemsOfIssues, type FieldProblems } from './field-problem.ts';
import type { FormField } from './field.ts';
import {
  connectForm,
  connectRequest,
  type ConnectForm,
  type ProviderForm,
  isAsked,
  type FieldValues,
} from './form.ts';
import { errorEvent } from './host.ts';
import { logoOf } from './logo.ts';
import { continueHere, openWaiting } from './redirect.ts';
import { scopeList } from './scope-list.ts';

/** The input of the user and its result, kept while the form is redrawn. */
interface FormState {
  readonly values: Map<string, string>;
  failure: Failure | null;
}

/** A form that is shown. */
interface FormContext {
  readonly app: App;
  readonly integration: Integration;
  readonly form: ConnectForm;
  readonly parts: FormParts;
  readonly t: PageLanguage['t'];
  /** Shows the form again with the error. */
  readonly fail: (failure: Failure) => void;
}

/** The form of one integration. */
export function formView(app: App, integration: Integration, failure: Failure | null = null): View {
  const state: FormState = { values: new Map(), failure };
  const view: View = (language) => drawForm(app, integration, state, { language, fail });
  function fail(found: Failure): void {
    if (isExpired(found)) {
      app.go.failed(found);
      return;
    }
    app.host.notify(errorEvent(found));
    state.failure = found;
    app.show(view);
  }
  return view;
}

async function drawForm(
  app: App,
  integration: Integration,
  state: FormState,
  { language: page, fail }: { readonly language: PageLanguage; readonly fail: FormContext['fail'] },
): Promise<ViewContent> {
  const { t, language } = page;
  const { session } = app;
  const { unique_key: key, display_name: name } = integration;
  const provider = await app.api.provider(integration.provider, language);
  const preset = session.integrations_config_defaults?.[key]?.connection_config ?? {};
  const form = connectForm(provider, { integrationKey: key, givenParams: Object.keys(preset), t });
  const parts = formParts(form, state.values, t);
  // Loaded before the click, because browsers open a window only in the click handler.
  if (form.kind === 'redirect') app.notice();
  const scopes = await scopeList(app, form, name, page);
  const context: FormContext = { app, integration, form, parts, t, fail };
  const onSubmit = (event: Event): void => {
    event.preventDefault();
    void send(context);
  };
  const element = h(
    'form',
    { novalidate: true, on: { submit: onSubmit } },
    parts.summary,
    ...parts.rows.map((row) => row.element),
    scopes,
    parts.submit,
    ...(form.kind === 'redirect' && isTopLevel() ? [leaveButton(context)] : []),
  );
  const box = state.failure === null ? null : failureBox(state.failure, name, t);
  return {
    title: t(session.isReconnecting === true ? 'reconnectTo' : 'connectTo', { name }),
    logo: logoOf(integration),
    content: [...(box ? [box] : []), ...introOf(context, provider), element],
    ...(app.integrations.length === 1 ? {} : { onBack: () => app.go.list() }),
    ...(box ? { focus: box } : {}),
  };
}

/** Providers do not allow their pages in frames. */
const isTopLevel = (): boolean => window.parent === window;

function leaveButton(context: FormContext): HTMLElement {
  const leave = (): void => {
    const redirect = redirectOf(context);
    if (redirect !== null) continueHere(context.app, redirect);
  };
  return h(
    'button',
    { type: 'button', class: 'plain', on: { click: leave } },
    context.t('sameWindow'),
  );
}

/** Null when the form has errors. */
function requestOf({ form, parts, t }: FormContext) {
  const values = parts.values();
  const problems = fieldProblems(values, t);
  parts.showProblems(problems);
  return problems.size === 0 ? connectRequest(form, values) : null;
}

function redirectOf(context: FormContext) {
  const { integration, form, fail } = context;
  const request = requestOf(context);
  return request === null ? null : { integration, path: form.path, request, onFailure: fail };
}

async function send(context: FormContext): Promise<void> {
  const { app, integration, form, parts, t, fail } = context;
  if (form.kind === 'redirect') {
    const redirect = redirectOf(context);
    if (redirect !== null) await openWaiting(app, redirect);
    return;
  }
  const request = requestOf(context);
  if (request === null || parts.isBusy()) return;
  parts.setBusy(true);
  app.say(t('connecting'));
  try {
    app.go.connected(integration, await app.api.connect(form.path, request));
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error;
    parts.setBusy(false);
    const problems = problemsOfIssues(form.fields, error.failure.issues, t);
    if (problems.size > 0) parts.showProblems(problems);
    else fail(error.failure);
  }
}

function introOf(
  { app, integration, form, t }: FormContext,
  provider: ProviderForm,
): HTMLElement[] {
  const { unique_key: key, display_name: name } = integration;
  const introKey = form.fields.length === 0 ? 'nothingIntro' : 'formIntro';
  const intro = t(form.kind === 'redirect' ? 'redirectIntro' : introKey, { name });
  const docs = app.session.overrides?.[key]?.docs_connect ?? provider.docs_connect ?? provider.docs;
  const isLink = /^https?:\/\//.test(docs) && form.fields.length > 0;
  const link = h(
    'a',
    { href: docs, target: '_blank', rel: 'noopener noreferrer' },
    t('help'),
    h('span', { class: 'unseen' }, ` (${t('newWindow')})`),
  );
  return [h('p', { class: 'intro' }, intro), ...(isLink ? [h('p', { class: 'help' }, link)] : [])];
}

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
function hintOf({ description, prefix, suffix, example, warnings }: FormField): Node[] {
  const isWhole = prefix === '' && suffix === '';
  const seen = [description, isWhole && example !== '' ? `(${example})` : ''].filter(
    (part) => part !== '',
  );
  const unseen = isWhole ? [] : [h('span', { class: 'unseen' }, ` ${prefix}…${suffix}`)];
  const notes = warnings.map((warning) => h('span', { class: 'warning' }, warning));
  return [document.createTextNode(seen.join(' ')), ...unseen, ...notes];
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
      h('option', { value: choice.value, selected: choice.value === value }, choice.title),
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

/** The elements of a form and their operations. */
interface FormParts {
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
function formParts(form: ConnectForm, kept: Map<string, string>, t: Translate): FormParts {
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
