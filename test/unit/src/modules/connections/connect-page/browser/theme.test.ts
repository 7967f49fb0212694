import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  contrast,
  themeColors,
  themeNames,
} from '#modules/connections/connect-page/browser/theme.ts';
import { seedOfRun } from '#test/support/judges/random.ts';

const channel = fc.integer({ min: 0, max: 255 });
const rgb = (hex: string): [number, number, number] => [
  parseInt(hex.slice(1, 3), 16),
  parseInt(hex.slice(3, 5), 16),
  parseInt(hex.slice(5, 7), 16),
];
const background = { light: '#ffffff', dark: '#161a21' } as const;

describe('the colors of an application', () => {
  it('are readable on the page and under the text of a button, whatever they are', () => {
    const property = fc.property(
      fc.tuple(channel, channel, channel),
      fc.constantFrom(...themeNames),
      (color, theme) => {
        const hex = `#${color.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
        const colors = themeColors(theme, hex)!;
        expect(colors.primary).toBe(hex);
        expect(contrast(rgb(colors.onPrimary), rgb(hex))).toBeGreaterThanOrEqual(4.5);
        const onPage = contrast(rgb(colors.accent), rgb(background[theme]));
        // Written as whole numbers the color may be a hair's breadth off.
        expect(onPage).toBeGreaterThanOrEqual(4.45);
      },
    );
    fc.assert(property, { seed: seedOfRun(), numRuns: 300 });
  });

  it('stay as they are where they can be read', () => {
    expect(themeColors('light', '#1F5FD0')?.accent).toBe('#1f5fd0');
    expect(themeColors('dark', '#8af')).toEqual({
      primary: '#88aaff',
      onPrimary: '#000000',
      accent: '#88aaff',
    });
  });

  it('that are none are left out', () => {
    for (const text of ['red', '#12', '#12345', 'url(x)', '']) {
      expect(themeColors('light', text)).toBeNull();
    }
  });
});
