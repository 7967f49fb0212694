import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = new URL('../../../', import.meta.url).pathname;
const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');

/** Without links and line breaks. */
const plain = (markdown: string): string =>
  markdown
    .replaceAll(/\*\*/g, '')
    .replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1')
    .replaceAll(/\s+/g, ' ')
    .trim();

function sectionOf(page: string, heading: string): string {
  const [, section = ''] = page.split(`\n## ${heading}\n`);
  return section.split('\n## ', 1)[0] ?? '';
}

const page = textOf('docs/security.md');
const table = sectionOf(textOf('docs/tested-promises.md'), 'The security page');
const claims = [...table.matchAll(/^\| (?!Claim|---)(.+?) +\| (.+?) +\|$/gm)].map(
  ([, claim = '', tests = '']) => ({ claim, tests: tests.split('; `').map(testOf) }),
);

/** `test/….test.ts`: the name of the test. */
function testOf(text: string): { readonly file: string; readonly name: string } {
  const [, file = '', name = ''] = /^`?(test\/[^`]+)`: (.+)$/.exec(text) ?? [];
  return { file, name };
}

/** Sentences that promise nothing. */
const advice = [
  'Back it up, apart from the data.',
  'Give each program a key of its own, with the scopes it needs.',
];

it('each claim of the security page has a test, and each of these tests is there', () => {
  expect(claims.length).toBeGreaterThan(25);
  for (const { tests } of claims) expect(tests.length).toBeGreaterThan(0);
  const missing = claims
    .flatMap(({ tests }) => tests)
    .filter(({ file, name }) => !textOf(file).includes(`'${name}'`));
  expect(missing).toEqual([]);
});

it('each claim stands on the security page', () => {
  const text = plain(page);
  expect(claims.map(({ claim }) => claim).filter((claim) => !text.includes(claim))).toEqual([]);
});

it('the security page claims nothing else', () => {
  const boundaries = sectionOf(page, 'What stands between whom')
    .split('\n')
    .slice(3)
    .map((row) => row.split(' | ').slice(1).join(' ').replace(/ *\|$/, ''));
  const others = ['Encryption', 'Keys', 'Not protected'].map((heading) =>
    sectionOf(page, heading).replaceAll(/^- /gm, ''),
  );
  let text = plain([...boundaries, ...others].join('\n'));
  const longestFirst = [...claims.map(({ claim }) => claim), ...advice].sort(
    (one, other) => other.length - one.length,
  );
  for (const claim of longestFirst) text = text.replace(claim, '');
  expect(text.trim()).toBe('');
});
