import type { ConnectUiSettings } from './api.ts';
import { themeColours, themeNames } from './theme.ts';

const choices = ['light', 'dark', 'system'] as const;
export type ThemeChoice = (typeof choices)[number];

export const themeChoice = (text: string | null): ThemeChoice | null =>
  choices.find((choice) => choice === text) ?? null;

/** Light, dark, or as the person's system has it. */
export function setTheme(choice: ThemeChoice): void {
  document.documentElement.dataset['theme'] = choice;
}

/** Puts the application's colours over those of the style sheet, made readable in each theme. */
export function setColours({ theme }: ConnectUiSettings): void {
  const { style } = document.documentElement;
  for (const name of themeNames) {
    const colours = themeColours(name, theme[name].primary);
    if (colours === null) continue;
    style.setProperty(`--${name}-primary`, colours.primary);
    style.setProperty(`--${name}-on-primary`, colours.onPrimary);
    style.setProperty(`--${name}-accent`, colours.accent);
  }
}
