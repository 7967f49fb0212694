import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const console_ = fileURLToPath(new URL('../../../../src/console', import.meta.url));
const textsIn = (folder: string, pattern: string): string =>
  globSync(pattern, { cwd: join(console_, folder) })
    .map((file) => readFileSync(join(console_, folder, file), 'utf8'))
    .join('\n');

describe('the page of the design system', () => {
  /** What others of them show: where overlays are drawn, the messages of `toast`, and the parts of tables. */
  const drawnByOthers = new Set([
    'Portal',
    'OverlayBox',
    'Toasts',
    'TableRow',
    'ShortTable',
    'Head',
  ]);

  it('shows every component', () => {
    const exported = textsIn('design', '*.tsx').matchAll(/^export (?:function|const) ([A-Z]\w+)/gm);
    const components = [...exported].map(([, name = '']) => name);
    expect(components.length).toBeGreaterThan(20);
    const page = textsIn('pages/design', '*.tsx');
    const missing = components.filter((name) => !new RegExp(`<${name}\\b`).test(page));
    expect(missing.filter((name) => !drawnByOthers.has(name))).toEqual([]);
  });
});

describe('the tokens', () => {
  const tokens = textsIn('design', 'tokens.css');
  const names = Array.from(tokens.matchAll(/^ {2}(--[\w-]+):/gm), ([, name]) => name);
  // The table sets the height of a spacer.
  const defined = new Set([...names, '--height']);
  const connectPage = '../modules/connections/connect-page/browser';

  it.each([
    ['console', textsIn('.', '**/*.css')],
    ['connect page', textsIn(connectPage, '*.css')],
  ])('define every color of the %s', (_page, styles) => {
    const own = new Set(Array.from(styles.matchAll(/^ {2}(--[\w-]+):/gm), ([, name]) => name));
    const used = Array.from(styles.matchAll(/var\((--[\w-]+)\)/g), ([, name]) => name);
    expect(used.filter((name) => !defined.has(name) && !own.has(name))).toEqual([]);
    const literal = styles.replace(tokens, '').match(/#[0-9a-f]{3,8}\b|\brgb\(|\bhsl\(/gi);
    expect(literal ?? []).toEqual([]);
  });
});
