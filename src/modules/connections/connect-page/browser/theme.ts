/** Colors of a page that an application chose, made readable (WCAG 2.2, 1.4.3 and 1.4.11). */

export type ThemeName = 'light' | 'dark';
export const themeNames: readonly ThemeName[] = ['light', 'dark'];

type Color = readonly [red: number, green: number, blue: number];

const white: Color = [255, 255, 255];
const black: Color = [0, 0, 0];
/** Background of each theme, `--surface` of the design system's tokens. */
const backgrounds: Readonly<Record<ThemeName, Color>> = {
  light: white,
  dark: [21, 26, 33],
};
const textContrast = 4.5;

export interface ThemeColors {
  /** Of the main button. */
  readonly primary: string;
  readonly onPrimary: string;
  /** The same color as text on the page's background. */
  readonly accent: string;
}

/** Null if the text is not a color of the form `#rgb` or `#rrggbb`. */
export function themeColors(theme: ThemeName, primary: string): ThemeColors | null {
  const color = parse(primary);
  if (color === null) return null;
  const onPrimary = contrast(color, white) >= contrast(color, black) ? white : black;
  const accent = readable(color, theme);
  return { primary: hex(color), onPrimary: hex(onPrimary), accent: hex(accent) };
}

function parse(text: string): Color | null {
  const short = /^#([0-9a-f])([0-9a-f])([0-9a-f])$/i.exec(text);
  const long = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(text);
  const parts = short ?? long;
  if (parts === null) return null;
  const [red = 0, green = 0, blue = 0] = parts
    .slice(1)
    .map((part) => parseInt(part.padStart(2, part), 16));
  return [red, green, blue];
}

const hex = (color: Color): string =>
  `#${color.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`;

/** The color, moved towards black or white as little as the contrast of text demands. */
function readable(color: Color, theme: ThemeName): Color {
  const background = backgrounds[theme];
  const target = theme === 'light' ? black : white;
  for (let share = 0; share < 1; share += 0.05) {
    const [red, green, blue] = color.map(
      (part, index) => part + ((target[index] ?? 0) - part) * share,
    );
    const mixed: Color = [red ?? 0, green ?? 0, blue ?? 0];
    if (contrast(mixed, background) >= textContrast) return mixed;
  }
  return target;
}

/** WCAG 2.2: contrast ratio and relative luminance. */
export function contrast(one: Color, other: Color): number {
  const [lighter = 0, darker = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (lighter + 0.05) / (darker + 0.05);
}

function luminance(color: Color): number {
  const [red = 0, green = 0, blue = 0] = color.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
