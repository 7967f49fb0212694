import { withoutTrailingSlashes } from '#kernel/trailing-slashes.ts';
import {
  languageFor,
  languageCodes,
  languages,
  translator,
  type Language,
  type OwnTexts,
} from '#modules/access/connect-ui/texts/translate.ts';
import { connectApi, ConnectError, emptyFailure, type Failure, type Integration } from './api.ts';
import type { App, View, PageLanguage, ViewContent } from './app.ts';
import { setColors, setTheme, themeChoice } from './apply-theme.ts';
import { h } from './dom.ts';
import { isExpired } from './failure-text.ts';
import { failureOfOutcome, listenForFlows, type FlowNotice } from './flow.ts';
import { formView } from './form-view.ts';
import { connectHost, errorEvent } from './host.ts';
import { takePageOptions, forgetTab, keepTabState, takeReturn } from './tab-state.ts';
import {
  listView,
  expiredView,
  failedView,
  loadingView,
  missingView,
  connectedView,
} from './views.ts';

/** The page is `<service>/connect/ui/`. */
const base = withoutTrailingSlashes(new URL('../../..', location.href).href);
const options = takePageOptions();
const host = connectHost(options.parentOrigin, options.channel);
const shell = openShell({
  root: document.getElementById('page') as HTMLElement,
  language: languageFor([options.language ?? '', ...navigator.languages]),
  onClose: host.isPresent ? close : null,
  onFailure: (error) => viewOf(startFailure(error)),
});

function close(): void {
  forgetTab();
  host.notify({ type: 'close' });
  window.close();
}

const startFailure = (error: unknown): Failure =>
  error instanceof ConnectError ? error.failure : { ...emptyFailure, message: String(error) };

function viewOf(failure: Failure): View {
  host.notify(errorEvent(failure));
  return isExpired(failure) ? expiredView() : failedView(failure, () => void start());
}

async function start(): Promise<void> {
  void shell.show(loadingView());
  const token = options.token ?? (host.isPresent ? await host.token() : null);
  if (token === null) {
    await shell.show(missingView());
    return;
  }
  keepTabState({ ...options, token });
  try {
    await open(token);
  } catch (error) {
    await shell.show(viewOf(startFailure(error)));
  }
}

/** @throws ConnectError */
async function open(token: string): Promise<void> {
  const api = connectApi(base, token);
  const [session, integrations] = await Promise.all([api.session(), api.integrations()]);
  const { connectUISettings: settings, allowed_integrations: allowed = [] } = session;
  if (settings !== undefined) {
    setColors(settings);
    setTheme(themeChoice(options.theme) ?? settings.defaultTheme);
    shell.dress(settings);
    if (settings.showWatermark) shell.showWatermark();
  }
  let notice: FlowNotice | null = null;
  const app: App = {
    api,
    host,
    session,
    integrations: integrations
      .filter(({ unique_key: key }) => allowed.length === 0 || allowed.includes(key))
      .sort((a, b) => a.display_name.localeCompare(b.display_name)),
    notice() {
      if (notice === null || notice.isOver()) {
        notice?.close();
        notice = listenForFlows(api.socketUrl(session.websocketsPath ?? '/'));
      }
      return notice;
    },
    show: (view) => void shell.show(view),
    say: (text) => shell.say(text),
    go: {
      list: () => app.show(listView(app)),
      form: (integration) => app.show(formView(app, integration)),
      connected: (integration, result) => app.show(connectedView(app, integration, result)),
      failed: (failure) => app.show(viewOf(failure)),
    },
  };
  host.notify({ type: 'open' });
  await shell.show(firstView(app));
}

/** The outcome of the flow that left this tab, otherwise the only integration, otherwise the list. */
function firstView(app: App): View {
  const returned = takeReturn();
  const find = (key: string | undefined): Integration | undefined =>
    app.integrations.find(({ unique_key }) => unique_key === key);
  const left = find(returned?.left.integrationKey);
  if (left !== undefined) {
    const outcome = returned?.outcome ?? null;
    if (outcome?.ok === true) return connectedView(app, left, outcome);
    return formView(app, left, outcome === null ? null : failureOfOutcome(outcome));
  }
  const [first, ...others] = app.integrations;
  return first !== undefined && others.length === 0 ? formView(app, first) : listView(app);
}

setTheme(themeChoice(options.theme) ?? 'system');
void start();

interface Shell {
  /** Replaces the current view, and moves the focus to it. */
  show(view: View): Promise<void>;
  say(text: string): void;
  showWatermark(): void;
  /** Sets the application's logo and texts; visible from the next view. */
  dress(look: { readonly logo?: string; readonly texts?: OwnTexts }): void;
}

interface ShellOptions {
  readonly root: HTMLElement;
  readonly language: Language;
  /** Null: no host waits for the page to close. */
  readonly onClose: (() => void) | null;
  /** Shown instead of a view that could not be drawn. */
  readonly onFailure: (error: unknown) => View;
}

/** The frame around the views: header, heading, footer with the languages, and a live region for screen readers. */
function openShell({ root, language, onClose, onFailure }: ShellOptions): Shell {
  const bar = h('header', { class: 'bar' });
  // Named, because the framing page also has a main landmark.
  const main = h('main', { class: 'content', 'aria-labelledby': 'heading' });
  const status = h('p', { class: 'unseen', role: 'status' });
  const footer = h('footer', { class: 'footer' });
  const card = h('div', { class: 'card' }, bar, main, footer);
  root.append(card, status);
  let own: OwnTexts = {};
  let spoken: PageLanguage = { language, t: translator(language) };
  let present: View | null = null;
  let drawing = 0;
  let hasWatermark = false;

  const draw = async (isMoved: boolean): Promise<void> => {
    if (present === null) return;
    drawing += 1;
    const mine = drawing;
    main.setAttribute('aria-busy', 'true');
    const drawn = await present(spoken).catch((error: unknown) => onFailure(error)(spoken));
    // A later view was requested in the meantime.
    if (mine !== drawing) return;
    bar.replaceChildren(...barButtons(drawn.onBack ?? null, onClose, spoken));
    place(main, drawn, isMoved);
  };
  const speak = (next: Language): void => {
    spoken = { language: next, t: translator(next, own) };
    document.documentElement.lang = next;
    footer.replaceChildren(...footerOf(spoken, hasWatermark, speak));
    document.getElementById('language')?.focus();
    void draw(false);
  };

  document.documentElement.lang = language;
  footer.replaceChildren(...footerOf(spoken, hasWatermark, speak));
  return {
    show(view) {
      present = view;
      return draw(true);
    },
    say(text) {
      status.textContent = text;
    },
    showWatermark() {
      hasWatermark = true;
      footer.replaceChildren(...footerOf(spoken, hasWatermark, speak));
    },
    dress({ logo, texts = {} }) {
      own = texts;
      spoken = { language: spoken.language, t: translator(spoken.language, own) };
      footer.replaceChildren(...footerOf(spoken, hasWatermark, speak));
      // Decorative: the name of the application is in its own page and texts.
      if (logo !== undefined) card.prepend(h('img', { class: 'brand', src: logo, alt: '' }));
    },
  };
}

function place(
  main: HTMLElement,
  { title, content, logo, focus }: ViewContent,
  isMoved: boolean,
): void {
  const heading = h('h1', { id: 'heading', tabindex: -1 }, title);
  main.replaceChildren(...(logo ? [logo] : []), heading, ...content);
  main.removeAttribute('aria-busy');
  document.title = title;
  if (!isMoved) return;
  if (focus === undefined) scrollTo(0, 0);
  (focus ?? heading).focus({ preventScroll: focus === undefined });
}

function barButtons(
  onBack: (() => void) | null,
  onClose: (() => void) | null,
  { t }: PageLanguage,
): HTMLElement[] {
  const button = (name: string, label: string, run: () => void): HTMLElement =>
    h('button', { type: 'button', class: `icon ${name}`, on: { click: run } }, label);
  return [
    ...(onBack === null ? [] : [button('back', t('back'), onBack)]),
    ...(onClose === null ? [] : [button('close', t('close'), onClose)]),
  ];
}

function footerOf(
  { t, language }: PageLanguage,
  hasWatermark: boolean,
  onLanguage: (language: Language) => void,
): HTMLElement[] {
  const choice = h('select', { id: 'language' });
  for (const code of languageCodes) {
    const option = { value: code, lang: code, selected: code === language };
    choice.append(h('option', option, languages[code].name));
  }
  choice.addEventListener('change', () => onLanguage(choice.value as Language));
  return [
    h('p', {}, t('stored')),
    h('p', { class: 'language' }, h('label', { for: 'language' }, t('language')), choice),
    ...(hasWatermark ? [h('p', { class: 'watermark' }, t('watermark'))] : []),
  ];
}
