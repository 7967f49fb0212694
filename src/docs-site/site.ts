/** What a page of the documentation does: search, theme, the menu of a narrow window, buttons that copy code. */
import {
  applyTheme,
  readChoice,
  storeChoice,
  type ThemeChoice,
} from '#console/shell/theme-choice.ts';
import { elementOf } from './element.ts';
import { connectSearch } from './search.ts';

function connectMenu(): void {
  const button = elementOf(document, '.menu-button', HTMLButtonElement);
  const navigation = elementOf(document, '#navigation', HTMLElement);
  const show = (isOpen: boolean): void => {
    button.setAttribute('aria-expanded', String(isOpen));
    document.body.classList.toggle('menu-open', isOpen);
  };
  button.hidden = false;
  button.addEventListener('click', () => show(button.getAttribute('aria-expanded') !== 'true'));
  document.addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape' || !document.body.classList.contains('menu-open')) return;
    show(false);
    button.focus();
  });
  const current = navigation.querySelector<HTMLElement>('[aria-current]');
  if (current !== null) navigation.scrollTop = current.offsetTop - navigation.clientHeight / 2;
}

const choices: Readonly<Record<ThemeChoice, ThemeChoice>> = {
  system: 'light',
  light: 'dark',
  dark: 'system',
};

const names: Readonly<Record<ThemeChoice, string>> = {
  system: '◐ System',
  light: '○ Light',
  dark: '● Dark',
};

function connectTheme(): void {
  const button = elementOf(document, '.theme-button', HTMLButtonElement);
  const label = (): void => {
    const choice = readChoice();
    button.textContent = names[choice];
    button.setAttribute('aria-label', `Theme: ${names[choice]}`);
  };
  button.hidden = false;
  button.addEventListener('click', () => {
    storeChoice(choices[readChoice()]);
    applyTheme();
    label();
  });
  label();
}

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
connectSearch(
  elementOf(document, '.search', HTMLFormElement),
  document.body.dataset['top'] ?? './',
);
