import type { ConnectUiSettings } from './api.ts';
import { themeColors, themeNames } from './theme.ts';

const choices = ['light', 'dark', 'system'] as const;
export type ThemeChoice = (typeof choices)[number];

export const themeChoice = (text: string | null): ThemeChoice | null =>
  choices.find((choice) => choice === text) ?? null;

/** Light, dark, or as the person's system has it. */
export function setTheme(choice: ThemeChoice): void {
  document.documentElement.dataset['theme'] = choice;
}

/** Puts the application's colors over those of the style sheet, made readable in each theme. */
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
