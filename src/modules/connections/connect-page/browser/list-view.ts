import type { Integration } from './api.ts';
import type { App, PageLanguage, View } from './app.ts';
import { h, setAttribute } from './dom.ts';
import { logoOf } from './logo.ts';

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
