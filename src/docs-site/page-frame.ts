/** What the frame of every page does: the menu of a narrow window, and the choice of a theme. */
import {
  applyTheme,
  readChoice,
  storeChoice,
  type ThemeChoice,
} from '#console/shell/theme-choice.ts';
import { elementOf } from './element.ts';

export function connectMenu(): void {
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

export function connectTheme(): void {
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
