import type { TextKey } from '#modules/access/connect-ui/texts/en.ts';
import type { Integration, Failure, ConnectResult } from './api.ts';
import type { App, PageLanguage, View } from './app.ts';
import { h, setAttribute } from './dom.ts';
import { failureBox } from './failure-box.ts';
import { logoOf } from './logo.ts';
import { forgetTab } from './tab-state.ts';

/** Number of integrations from which the search field is shown. */
const searchFrom = 7;

/** The allowed integrations as a list of buttons. */
export function listView(app: App): View {
  let wanted = '';
  return async ({ t }: PageLanguage) => {
    const intro = h(
      'p',
      { class: 'intro' },
      t(app.integrations.length === 0 ? 'listEmpty' : 'listIntro'),
    );
    const items = app.integrations.map((integration) => ({
      integration,
      element: h('li', {}, choice(app, integration)),
    }));
    const nothing = h('p', { class: 'intro', hidden: true });
    const filter = (): void => {
      const text = wanted.trim().toLowerCase();
      const found = items.filter(({ integration, element }) => {
        const isFound = integration.display_name.toLowerCase().includes(text);
        setAttribute(element, 'hidden', !isFound);
        return isFound;
      });
      nothing.textContent = t('searchNothing', { query: wanted.trim() });
      setAttribute(nothing, 'hidden', found.length > 0);
      if (text !== '') app.say(t('searchFound', { count: found.length }));
    };
    const search = h('input', {
      id: 'search',
      type: 'search',
      autocomplete: 'off',
      value: wanted,
      on: {
        input: ({ target }) => {
          wanted = (target as HTMLInputElement).value;
          filter();
        },
      },
    });
    const isLong = app.integrations.length >= searchFrom;
    const searching = h(
      'p',
      { class: 'field' },
      h('label', { for: 'search' }, t('search')),
      search,
    );
    if (isLong && wanted !== '') filter();
    const list = h('ul', { class: 'choices' }, ...items.map(({ element }) => element));
    const content = isLong ? [intro, searching, list, nothing] : [intro, list];
    return { title: t('title'), content };
  };
}

function choice(app: App, integration: Integration): HTMLElement {
  return h(
    'button',
    {
      type: 'button',
      class: 'choice',
      on: { click: () => app.go.form(integration) },
    },
    logoOf(integration),
    h('span', {}, integration.display_name),
  );
}

const notice =
  (title: TextKey, text: TextKey): View =>
  async ({ t }) => ({ title: t(title), content: [h('p', { class: 'intro' }, t(text))] });

export const expiredView = (): View => notice('expired', 'expiredText');
export const missingView = (): View => notice('missing', 'missingText');
export const loadingView =
  (): View =>
  async ({ t }) => ({
    title: t('title'),
    content: [h('p', { class: 'intro' }, t('loading'))],
  });

/** A load error with a button to retry. */
export function failedView(failure: Failure, again: () => void): View {
  return async ({ t }) => {
    const box = failureBox(failure, '', t);
    const button = h(
      'button',
      { type: 'button', class: 'primary', on: { click: again } },
      t('tryAgain'),
    );
    return { title: t('title'), content: [box, button], focus: box };
  };
}

/** The success page; notifies the waiting page. */
export function connectedView(app: App, integration: Integration, result: ConnectResult): View {
  const { connectionId, providerConfigKey, isPending } = result;
  app.host.notify({ type: 'connect', connectionId, providerConfigKey, isPending });
  return async ({ t }) => {
    const name = integration.display_name;
    const finish = (): void => {
      forgetTab();
      app.host.notify({ type: 'close' });
      window.close();
    };
    const button = (label: string, kind: string, run: () => void) =>
      h('button', { type: 'button', class: kind, on: { click: run } }, label);
    const isOne = app.integrations.length === 1;
    return {
      title: t('connected', { name }),
      logo: logoOf(integration),
      content: [
        h('p', { class: 'intro done' }, t(isPending ? 'pendingText' : 'connectedText', { name })),
        ...(app.host.isPresent ? [button(t('finish'), 'primary', finish)] : []),
        ...(isOne ? [] : [button(t('another'), 'plain', () => app.go.list())]),
      ],
    };
  };
}
