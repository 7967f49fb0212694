export type ThemeChoice = 'system' | 'light' | 'dark';

const stored = 'svc-console-theme';
const isChoice = (text: string | null): text is ThemeChoice =>
  text === 'system' || text === 'light' || text === 'dark';

export function readChoice(): ThemeChoice {
  const text = localStorage.getItem(stored);
  return isChoice(text) ? text : 'system';
}

export const prefersDark = matchMedia('(prefers-color-scheme: dark)');

/** Applies the stored theme, before the first paint. */
export function applyTheme(choice: ThemeChoice = readChoice()): void {
  const isDark = choice === 'dark' || (choice === 'system' && prefersDark.matches);
  document.documentElement.dataset['theme'] = isDark ? 'dark' : 'light';
}

/** Kept for every page of this origin: the console and the documentation. */
export const storeChoice = (choice: ThemeChoice): void => localStorage.setItem(stored, choice);
