import type { ConnectUiSettings } from './api.ts';
import { themeColors, themeNames } from './theme.ts';

const choices = ['light', 'dark', 'system'] as const;
export type ThemeChoice = (typeof choices)[number];

export const themeChoice = (text: string | null): ThemeChoice | null =>
  choices.find((choice) => choice === text) ?? null;

const prefersDark = matchMedia('(prefers-color-scheme: dark)');
let chosen: ThemeChoice = 'system';

/** Light, dark, or the setting of the system, which is followed when it changes. */
export function setTheme(choice: ThemeChoice): void {
  chosen = choice;
  applyTheme();
}

function applyTheme(): void {
  const isDark = chosen === 'dark' || (chosen === 'system' && prefersDark.matches);
  document.documentElement.dataset['theme'] = isDark ? 'dark' : 'light';
}

prefersDark.addEventListener('change', applyTheme);

/** Overrides the colors of the style sheet with the application's, adjusted for contrast in each theme. */
export function setColors({ theme }: ConnectUiSettings): void {
  const { style } = document.documentElement;
  for (const name of themeNames) {
    const colors = themeColors(name, theme[name].primary);
    if (colors === null) continue;
    style.setProperty(`--${name}-primary`, colors.primary);
    style.setProperty(`--${name}-on-primary`, colors.onPrimary);
    style.setProperty(`--${name}-accent`, colors.accent);
  }
}
