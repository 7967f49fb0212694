import {
  languageCodes,
  languages,
  translator,
  type Language,
  type OwnTexts,
} from '#modules/access/connect-ui/texts/translate.ts';
import type { PageLanguage, View, ViewContent } from './app.ts';
import { h } from './dom.ts';

export interface Shell {
  /** Replaces the current view, and moves the focus to it. */
  show(view: View): Promise<void>;
  say(text: string): void;
  showWatermark(): void;
  /** Sets the application's logo and texts; visible from the next view. */
  dress(look: { readonly logo?: string; readonly texts?: OwnTexts }): void;
}

export interface ShellOptions {
  readonly root: HTMLElement;
  readonly language: Language;
  /** Null: no host waits for the page to close. */
  readonly onClose: (() => void) | null;
  /** Shown instead of a view that could not be drawn. */
  readonly onFailure: (error: unknown) => View;
}

/** The frame around the views: header, heading, footer with the languages, and a live region for screen readers. */
export function openShell({ root, language, onClose, onFailure }: ShellOptions): Shell {
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
