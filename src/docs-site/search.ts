import MiniSearch, { type SearchResult } from 'minisearch';
import { elementOf } from './element.ts';
import { searchOptions, type SearchSection } from './search-options.ts';

const resultsMax = 12;
/** Around the first found word. */
const excerptChars = 140;

type FoundSection = SearchResult & Pick<SearchSection, 'title' | 'heading' | 'body'>;

/**
 * The search of the header: the index is fetched when the field gets the focus, and every word is looked up here.
 * @param top path from this page to the top of the site
 */
export function connectSearch(form: HTMLFormElement, top: string): void {
  const field = elementOf(form, 'input', HTMLInputElement);
  const results = elementOf(form, '.results', HTMLElement);
  let index: Promise<MiniSearch<SearchSection>> | null = null;
  const load = (): Promise<MiniSearch<SearchSection>> => {
    index ??= fetchIndex(`${top}search.json`).catch((error: unknown) => {
      index = null;
      throw error;
    });
    return index;
  };
  const close = (): void => {
    results.hidden = true;
  };
  const search = async (): Promise<void> => {
    const query = field.value.trim();
    if (query === '') {
      close();
      return;
    }
    const found = await load().then(
      (loaded) => loaded.search(query) as FoundSection[],
      () => null,
    );
    // A later letter has its own answer.
    if (field.value.trim() !== query) return;
    results.replaceChildren(...shownResults(found, query, top));
    results.hidden = false;
  };

  form.hidden = false;
  field.addEventListener('focus', () => void load().catch(() => undefined));
  field.addEventListener('input', () => void search());
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    results.querySelector('a')?.click();
  });
  form.addEventListener('keydown', (event) => {
    const links = [...results.querySelectorAll('a')];
    const at = links.indexOf(document.activeElement as HTMLAnchorElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Escape') {
      close();
      field.focus();
    } else if (step !== undefined) {
      event.preventDefault();
      (links[at + step] ?? field).focus();
    }
  });
  form.addEventListener('focusout', ({ relatedTarget }) => {
    if (!form.contains(relatedTarget as Node | null)) close();
  });
  results.addEventListener('click', close);
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof HTMLElement && event.target.matches('input, textarea');
    if (isTyping || !(event.key === '/' || (event.key === 'k' && (event.ctrlKey || event.metaKey))))
      return;
    event.preventDefault();
    field.focus();
  });
}

async function fetchIndex(url: string): Promise<MiniSearch<SearchSection>> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return MiniSearch.loadJSON<SearchSection>(await response.text(), searchOptions);
}

function shownResults(
  found: readonly FoundSection[] | null,
  query: string,
  top: string,
): HTMLElement[] {
  const status = made('p', 'status');
  status.role = 'status';
  if (found === null) {
    status.textContent = 'The search index could not be loaded. Try again.';
    return [status];
  }
  const shown = found.slice(0, resultsMax);
  status.textContent =
    found.length === 0
      ? `Nothing found for "${query}".`
      : `${found.length} ${found.length === 1 ? 'result' : 'results'}`;
  const list = made('ul');
  list.append(...shown.map((result) => shownResult(result, top)));
  return shown.length === 0 ? [status] : [status, list];
}

function shownResult({ id, title, heading, body, terms }: FoundSection, top: string): HTMLElement {
  const item = made('li');
  const link = made('a');
  link.href = top + String(id);
  const name = made('span', 'result-name');
  name.textContent = heading === '' ? title : `${title} › ${heading}`;
  const text = made('span', 'result-text');
  text.append(...marked(excerptOf(body, terms), terms));
  link.append(name, text);
  item.append(link);
  return item;
}

function excerptOf(body: string, terms: readonly string[]): string {
  const lower = body.toLowerCase();
  const places = terms.map((term) => lower.indexOf(term)).filter((place) => place >= 0);
  const start = Math.max(0, Math.min(...places, body.length) - excerptChars / 3);
  const from = start === 0 || places.length === 0 ? 0 : body.indexOf(' ', start) + 1;
  const end = from + excerptChars;
  return `${from === 0 ? '' : '… '}${body.slice(from, end)}${end < body.length ? ' …' : ''}`;
}

/** The text with its found words in `<mark>`. */
function marked(text: string, terms: readonly string[]): (Node | string)[] {
  const lower = text.toLowerCase();
  const parts: (Node | string)[] = [];
  let done = 0;
  while (done < text.length) {
    const next = terms
      .map((term) => ({ term, place: lower.indexOf(term, done) }))
      .filter(({ place }) => place >= 0)
      .sort((a, b) => a.place - b.place || b.term.length - a.term.length)[0];
    if (next === undefined) break;
    const mark = made('mark');
    mark.textContent = text.slice(next.place, next.place + next.term.length);
    parts.push(text.slice(done, next.place), mark);
    done = next.place + next.term.length;
  }
  return [...parts, text.slice(done)];
}

function made<T extends keyof HTMLElementTagNameMap>(
  tag: T,
  className = '',
): HTMLElementTagNameMap[T] {
  const element = document.createElement(tag);
  element.className = className;
  return element;
}
