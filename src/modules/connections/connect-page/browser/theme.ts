/** Colours of a page that an application chose, made readable (WCAG 2.2, 1.4.3 and 1.4.11). */

export type ThemeName = 'light' | 'dark';
export const themeNames: readonly ThemeName[] = ['light', 'dark'];

type Colour = readonly [red: number, green: number, blue: number];

const white: Colour = [255, 255, 255];
const black: Colour = [0, 0, 0];
/** Background of each theme, as in page.css. */
const backgrounds: Readonly<Record<ThemeName, Colour>> = {
  light: white,
  dark: [22, 26, 33],
};
const textContrast = 4.5;

export interface ThemeColours {
  /** Of the main button. */
  readonly primary: string;
  readonly onPrimary: string;
  /** The same colour where it is text on the page's background. */
  readonly accent: string;
}

/** Null where the text is no colour of the form `#rgb` or `#rrggbb`. */
export function themeColours(theme: ThemeName, primary: string): ThemeColours | null {
  const colour = parse(primary);
  if (colour === null) return null;
  const onPrimary = contrast(colour, white) >= contrast(colour, black) ? white : black;
  const accent = readable(colour, theme);
  return { primary: hex(colour), onPrimary: hex(onPrimary), accent: hex(accent) };
}

function parse(text: string): Colour | null {
  const short = /^#([0-9a-f])([0-9a-f])([0-9a-f])$/i.exec(text);
  const long = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(text);
  const parts = short ?? long;
  if (parts === null) return null;
  const [red = 0, green = 0, blue = 0] = parts
    .slice(1)
    .map((part) => parseInt(part.padStart(2, part), 16));
  return [red, green, blue];
}

const hex = (colour: Colour): string =>
  `#${colour.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`;

/** The colour, moved towards black or white as little as the contrast of text demands. */
function readable(colour: Colour, theme: ThemeName): Colour {
  const background = backgrounds[theme];
  const target = theme === 'light' ? black : white;
  for (let share = 0; share < 1; share += 0.05) {
    const [red, green, blue] = colour.map(
      (part, index) => part + ((target[index] ?? 0) - part) * share,
    );
    const mixed: Colour = [red ?? 0, green ?? 0, blue ?? 0];
    if (contrast(mixed, background) >= textContrast) return mixed;
  }
  return target;
}

/** WCAG 2.2: contrast ratio and relative luminance. */
export function contrast(one: Colour, other: Colour): number {
  const [lighter = 0, darker = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (lighter + 0.05) / (darker + 0.05);
}

function luminance(colour: Colour): number {
  const [red = 0, green = 0, blue = 0] = colour.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
