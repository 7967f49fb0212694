import { ConnectError, type RequestedScope } from './api.ts';
import type { App, PageLanguage } from './app.ts';
import { h } from './dom.ts';
import type { ConnectForm } from './form.ts';

/** Number of scopes that are shown at once. */
const shownMax = 6;

/** What the provider will ask the person to allow; null where nothing is known of it. */
export async function scopeList(
  app: App,
  { kind, path }: ConnectForm,
  name: string,
  { language, t }: PageLanguage,
): Promise<HTMLElement | null> {
  if (kind !== 'redirect') return null;
  const scopes = await app.api.scopes(path, language).catch((error: unknown) => {
    // The start of the redirect reports it, with its details.
    if (error instanceof ConnectError) return [];
    throw error;
  });
  if (scopes.length === 0) return null;
  const isLong = scopes.length > shownMax + 1;
  const shown = isLong ? scopes.slice(0, shownMax) : scopes;
  const further = scopes.slice(shown.length);
  const listOf = (listed: readonly RequestedScope[]): HTMLElement =>
    h('ul', {}, ...listed.map((scope) => scopeItem(scope, language)));
  const more = h(
    'details',
    {},
    h('summary', {}, t('scopesMore', { count: further.length })),
    listOf(further),
  );
  return h(
    'section',
    { class: 'scopes', 'aria-labelledby': 'scopes' },
    h('h2', { id: 'scopes' }, t('scopesIntro', { name })),
    listOf(shown),
    isLong ? more : null,
  );
}

/** The meaning with the scope's name below it, or the name alone. */
function scopeItem(scope: RequestedScope, language: string): HTMLElement {
  // Names of scopes are in no language.
  const name = h('code', { translate: 'no' }, scope.name);
  if (scope.description === null) return h('li', {}, name);
  const lang = scope.language === language ? null : scope.language;
  return h('li', {}, h('span', { lang }, scope.description), name);
}
