/** The page of the API reference: the frame, the search, samples, and the operation that the address names. */
import { applyTheme, prefersDark } from '#console/shell/theme-choice.ts';
import { connectSamples } from './operation-samples.ts';
import { connectMenu, connectTheme } from './page-frame.ts';

applyTheme();
prefersDark.addEventListener('change', () => applyTheme());

const operations = [...document.querySelectorAll<HTMLDetailsElement>('main details')];
const texts = operations.map(({ textContent }) => textContent.toLowerCase());
const search = document.querySelector<HTMLInputElement>('#search');
const found = document.querySelector('#found');

/** Shows the operations that contain every word of the search. */
function filter(): void {
  const words = (search?.value ?? '').toLowerCase().split(/\s+/);
  const isShown = texts.map((text) => words.every((word) => text.includes(word)));
  operations.forEach((operation, index) => (operation.hidden = isShown[index] !== true));
  for (const section of document.querySelectorAll<HTMLElement>('main section')) {
    section.hidden = section.querySelector('details:not([hidden])') === null;
    const link = document.querySelector<HTMLElement>(`nav a[href="#${section.id}"]`);
    if (link !== null) link.hidden = section.hidden;
  }
  const count = isShown.filter(Boolean).length;
  if (found !== null) found.textContent = `${count} of ${operations.length} operations`;
}

function openNamed(): void {
  const named = document.getElementById(location.hash.slice(1));
  if (!(named instanceof HTMLDetailsElement)) return;
  named.open = true;
  named.scrollIntoView();
}

search?.addEventListener('input', filter);
window.addEventListener('hashchange', openNamed);
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target instanceof HTMLInputElement) return;
  event.preventDefault();
  search?.focus();
});
connectMenu();
connectTheme();
filter();
const isServedByGateway = document.querySelector('main[data-gateway]') !== null;
const folder = new URL('../', location.href);
connectSamples(operations, {
  documentUrl: new URL('openapi.json', folder),
  base: isServedByGateway ? folder : null,
});
openNamed();
