/** What a page of the documentation does: search, theme, the menu of a narrow window, buttons that copy code. */
import { elementOf } from './element.ts';
import { connectMenu, connectTheme } from './page-frame.ts';
import { connectProviderSearch } from './provider-search.ts';
import { connectSearch } from './search.ts';

/** `navigator.clipboard` exists only on secure origins. */
function connectCopying(): void {
  const { clipboard } = navigator as { clipboard?: Clipboard };
  if (clipboard === undefined) return;
  for (const block of document.querySelectorAll('.code-block')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy-button';
    button.textContent = 'Copy';
    button.addEventListener('click', () => {
      void clipboard.writeText(elementOf(block, 'code', HTMLElement).textContent).then(() => {
        button.textContent = 'Copied';
        button.addEventListener('blur', () => (button.textContent = 'Copy'), { once: true });
      });
    });
    block.append(button);
  }
}

/** Marks the part that is read in the list of headings beside the page. */
function connectContents(): void {
  const links = [...document.querySelectorAll<HTMLAnchorElement>('.contents a')];
  const byAnchor = new Map(links.map((link) => [decodeURIComponent(link.hash.slice(1)), link]));
  const observer = new IntersectionObserver(
    (changes) => {
      const top = changes.find(({ isIntersecting }) => isIntersecting);
      if (top === undefined) return;
      for (const link of links) link.removeAttribute('aria-current');
      byAnchor.get(top.target.id)?.setAttribute('aria-current', 'true');
    },
    { rootMargin: '-64px 0px -70% 0px' },
  );
  for (const anchor of byAnchor.keys()) {
    const heading = document.getElementById(anchor);
    if (heading !== null) observer.observe(heading);
  }
}

connectMenu();
connectTheme();
connectCopying();
connectContents();
connectProviderSearch();
connectSearch(
  elementOf(document, '.search', HTMLFormElement),
  document.body.dataset['top'] ?? './',
);
