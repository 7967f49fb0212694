import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Provider } from './definition.ts';

/** A brand's mark as one path in a square of 24, and its color. */
interface Icon {
  readonly providers: readonly string[];
  readonly color: string;
  readonly path: string;
}

const file = fileURLToPath(new URL('logos.json', import.meta.url));
const { icons } = JSON.parse(readFileSync(file, 'utf8')) as {
  readonly icons: Readonly<Record<string, Icon>>;
};
const iconOf = new Map(
  Object.values(icons).flatMap((icon) => icon.providers.map((name) => [name, icon] as const)),
);

/** The mark of the brand where a free one exists, else the initials on a color derived from the name. */
export function logoSvg(provider: Provider): string {
  const { name, display_name: title } = provider;
  const icon = iconOf.get(name);
  const ground = icon?.color ?? `hsl(${hueOf(name)} 45% 40%)`;
  return (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" role="img">' +
    `<title>${escaped(title)}</title><rect width="64" height="64" rx="12" fill="${ground}"/>` +
    `${icon === undefined ? initials(title) : mark(icon)}</svg>`
  );
}

const mark = ({ path, color }: Icon): string =>
  `<path transform="translate(14 14) scale(1.5)" fill="${inkOn(color)}" d="${path}"/>`;

function initials(title: string): string {
  const words = title.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
  const letters = words.slice(0, 2).map((word) => /^./u.exec(word)?.[0].toUpperCase() ?? '');
  return (
    '<text x="32" y="42" font-family="sans-serif" font-size="28" fill="#fff" text-anchor="middle">' +
    `${escaped(letters.join(''))}</text>`
  );
}

const hueOf = (name: string): number =>
  Buffer.from(name).reduce((sum, byte) => (sum * 31 + byte) % 360, 7);

/** Black or white, the one with more contrast to the color (WCAG 2.2, relative luminance). */
function inkOn(color: string): '#000' | '#fff' {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  const luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  return 1.05 / (luminance + 0.05) > (luminance + 0.05) / 0.05 ? '#fff' : '#000';
}

const marks: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

const escaped = (text: string): string => text.replace(/[&<>]/g, (sign) => marks[sign] ?? sign);
