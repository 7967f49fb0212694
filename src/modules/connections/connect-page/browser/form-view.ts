import { ConnectError, type Failure, type Integration } from './api.ts';
import type { App, PageLanguage, View, ViewContent } from './app.ts';
import { h } from './dom.ts';
import { failureBox } from './failure-box.ts';
import { isExpired } from './failure-text.ts';
import { fieldProblems, problemsOfIssues } from './field-problem.ts';
import { formParts, type FormParts } from './form-parts.ts';
import { connectForm, connectRequest, type ConnectForm, type ProviderForm } from './form.ts';
import { logoOf } from './logo.ts';
import { continueHere, openWaiting } from './redirect.ts';

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
    app.host.notify({
      type: 'error',
      code: found.code,
      message: found.message,
      logId: found.logId,
    });
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
