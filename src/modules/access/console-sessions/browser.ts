import { ipPrefix } from '../audit/audited.ts';
import type { BrowserSummary } from './console-session.ts';

/** By the text that stands in `User-Agent`; the first that matches, because browsers also name those before them. */
const browsers: readonly (readonly [text: string, name: string])[] = [
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
];

const systems: readonly (readonly [text: string, name: string])[] = [
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Android', 'Android'],
  ['CrOS', 'ChromeOS'],
  ['Windows', 'Windows'],
  ['Mac OS X', 'macOS'],
  ['Linux', 'Linux'],
];

/** What a session shows of its browser: the whole header would single people out. */
export function browserSummary(userAgent: string | undefined, address: string): BrowserSummary {
  const find = (names: typeof browsers): string | null =>
    names.find(([text]) => userAgent?.includes(text))?.[1] ?? null;
  const [browser, system] = [find(browsers), find(systems)];
  const name = browser !== null && system !== null ? `${browser} on ${system}` : browser;
  return { name, ipPrefix: ipPrefix(address) };
}
