import { useEffect, useState } from 'preact/hooks';

export type ThemeChoice = 'system' | 'light' | 'dark';

const stored = 'svc-console-theme';
const isChoice = (text: string | null): text is ThemeChoice =>
  text === 'system' || text === 'light' || text === 'dark';

function readChoice(): ThemeChoice {
  const text = localStorage.getItem(stored);
  return isChoice(text) ? text : 'system';
}

const prefersDark = matchMedia('(prefers-color-scheme: dark)');

/** Applies the stored theme, before the first paint. */
export function applyTheme(choice: ThemeChoice = readChoice()): void {
  const isDark = choice === 'dark' || (choice === 'system' && prefersDark.matches);
  document.documentElement.dataset['theme'] = isDark ? 'dark' : 'light';
}

export function useTheme(): readonly [ThemeChoice, (choice: ThemeChoice) => void] {
  const [choice, setChoice] = useState(readChoice);
  useEffect(() => {
    applyTheme(choice);
    const follow = (): void => applyTheme(choice);
    prefersDark.addEventListener('change', follow);
    return () => prefersDark.removeEventListener('change', follow);
  }, [choice]);
  const choose = (next: ThemeChoice): void => {
    localStorage.setItem(stored, next);
    setChoice(next);
  };
  return [choice, choose];
}
