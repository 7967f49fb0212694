import type { CallbackOutcome } from './callback-outcome.ts';

/** State of a tab while the user is at the provider, or reloads; deleted when the tab is closed. */
export interface TabState {
  readonly token: string | null;
  readonly language: string | null;
  readonly theme: string | null;
  /** Origin of the page that opened this one; events are sent only there. */
  readonly parentOrigin: string | null;
  /** Name of the channel that pages of the same origin listen to. */
  readonly channel: string | null;
}

/** A flow that left this tab for the provider. */
export interface LeftFor {
  readonly integrationKey: string;
}

const stateKey = 'svc-connect';
const leftKey = 'svc-connect-left';
const outcomeKey = 'svc-connect-outcome';

/** A browser may deny storage to a framed page, which then works without. */
function read(key: string): unknown {
  try {
    const text = sessionStorage.getItem(key);
    return text === null ? null : JSON.parse(text);
  } catch {
    return null;
  }
}

function write(key: string, value: unknown): boolean {
  try {
    if (value === null) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

export const readTabState = (): TabState | null => read(stateKey) as TabState | null;
export const keepTabState = (state: TabState): void => void write(stateKey, state);
export const forgetTab = (): void => {
  for (const key of [stateKey, leftKey, outcomeKey]) write(key, null);
};

/** False if the tab could not return to the page. */
export const noteLeaving = (left: LeftFor): boolean => write(leftKey, left);
export const hasLeft = (): boolean => read(leftKey) !== null;
export const keepOutcome = (outcome: CallbackOutcome): void => void write(outcomeKey, outcome);

/** The flow that this tab left for, with its outcome (null: no outcome); returned once. */
export function takeReturn(): { left: LeftFor; outcome: CallbackOutcome | null } | null {
  const left = read(leftKey) as LeftFor | null;
  const outcome = read(outcomeKey) as CallbackOutcome | null;
  write(leftKey, null);
  write(outcomeKey, null);
  return left === null ? null : { left, outcome };
}

/** The names that links and the embed script use, in the query or after `#`. */
const names = {
  token: 'session_token',
  language: 'lang',
  theme: 'theme',
  parentOrigin: 'parent_origin',
  channel: 'channel',
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
    channel: option('channel'),
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
