import { keepTabState, readTabState, type TabState } from './tab-state.ts';

/** The names that links and the embed script use, in the query or after `#`. */
const names = {
  token: 'session_token',
  language: 'lang',
  theme: 'theme',
  parentOrigin: 'parent_origin',
} as const satisfies Record<keyof TabState, string>;

/**
 * Options of the link, otherwise those stored in the tab. The token is removed from the URL at once, so that it is
 * neither in the history nor in a copied URL.
 */
export function takePageOptions(): TabState {
  const url = new URL(location.href);
  const sources = [url.searchParams, new URLSearchParams(url.hash.slice(1))];
  const kept = readTabState();
  const option = (name: keyof TabState): string | null =>
    sources.map((params) => params.get(names[name])).find((value) => value !== null) ??
    kept?.[name] ??
    null;
  const options: TabState = {
    token: option('token'),
    language: option('language'),
    theme: option('theme'),
    parentOrigin: originOf(option('parentOrigin')),
  };
  keepTabState(options);
  hideToken(url);
  return options;
}

function hideToken(url: URL): void {
  const fragment = new URLSearchParams(url.hash.slice(1));
  fragment.delete(names.token);
  url.searchParams.delete(names.token);
  url.hash = fragment.toString();
  history.replaceState(null, '', url);
}

function originOf(text: string | null): string | null {
  if (text === null || !URL.canParse(text)) return null;
  const { origin } = new URL(text);
  return origin === 'null' ? null : origin;
}
