import { elementOf } from './element.ts';

/** On the list of providers: shows those that have each word of the field in their name, category or mode. */
export function connectProviderSearch(): void {
  const search = document.querySelector<HTMLElement>('.provider-search');
  if (search === null) return;
  const field = elementOf(search, 'input', HTMLInputElement);
  const status = elementOf(search, '[role="status"]', HTMLElement);
  const items = [...document.querySelectorAll<HTMLElement>('.providers li')];
  const sections = [...document.querySelectorAll<HTMLElement>('article section')];
  const links = [...document.querySelectorAll<HTMLElement>('.contents li')];

  const filter = (): void => {
    const words = field.value.toLowerCase().split(/\s+/);
    const isShown = items.map(({ dataset }) =>
      words.every((word) => (dataset['words'] ?? '').includes(word)),
    );
    items.forEach((item, at) => (item.hidden = isShown[at] !== true));
    sections.forEach((section, at) => {
      section.hidden = section.querySelector('li:not([hidden])') === null;
      const link = links[at];
      if (link !== undefined) link.hidden = section.hidden;
    });
    const count = isShown.filter(Boolean).length;
    status.textContent =
      count === items.length ? `${count} providers` : `${count} of ${items.length} providers`;
  };
  elementOf(search, '[role="search"]', HTMLElement).hidden = false;
  field.addEventListener('input', filter);
  // A browser that goes back fills in what the field had.
  window.addEventListener('pageshow', filter);
}
