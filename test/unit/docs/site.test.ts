import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import MiniSearch from 'minisearch';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeApiReference } from '#bin/docs-site/api-reference.ts';
import { buildDocsSite } from '#bin/docs-site/build.ts';
import { renderMarkdown, type Links } from '#bin/docs-site/markdown.ts';
import { readNavigation } from '#bin/docs-site/navigation.ts';
import { searchOptions, type SearchSection } from '#docs-site/search-options.ts';

const root = new URL('../../../', import.meta.url).pathname;
/** Any: links are resolved below it. */
const base = 'http://site.example/some/path/';

let folder: string;
/** HTML by path, such as `records/index.html`. */
let pages: ReadonlyMap<string, string>;
let files: ReadonlySet<string>;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-docs-site-'));
  await buildDocsSite(root, folder);
  await writeApiReference(root, folder);
  files = new Set(globSync('**/*.*', { cwd: folder }));
  const html = [...files].filter((file) => file.endsWith('.html'));
  pages = new Map(html.map((file) => [file, readFileSync(join(folder, file), 'utf8')]));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Without the API reference, of which `test/browser` looks at the page. */
const rendered = () => [...pages].filter(([page]) => page !== 'api/index.html');

const attributes = (html: string, name: string): string[] =>
  [...html.matchAll(new RegExp(`<[^<>]* ${name}="([^"]*)"`, 'g'))].map(([, value = '']) => value);

/** What is wrong with a link of a page; null: nothing. */
function problemOf(page: string, link: string): string | null {
  const url = new URL(link, base + page.replace(/index\.html$/, ''));
  if (!url.href.startsWith(base))
    return url.protocol === 'https:' || link === 'data:,' ? null : link;
  const path = url.pathname.slice(new URL(base).pathname.length);
  const file = path === '' || path.endsWith('/') ? `${path}index.html` : path;
  if (!files.has(file)) return `${link}: there is no ${file}`;
  const anchor = decodeURIComponent(url.hash.slice(1));
  if (anchor === '') return null;
  return attributes(pages.get(file) ?? '', 'id').includes(anchor)
    ? null
    : `${link}: no such anchor`;
}

describe('the documentation site', () => {
  it('has no link that leads nowhere', () => {
    const links = [...pages].flatMap(([page, html]) =>
      [...attributes(html, 'href'), ...attributes(html, 'src')].map(
        (link) => [page, link] as const,
      ),
    );
    expect(links.length).toBeGreaterThan(2000);
    const problems = links.flatMap(([page, link]) => {
      const problem = problemOf(page, link);
      return problem === null ? [] : [`${page}: ${problem}`];
    });
    expect(problems).toEqual([]);
  });

  it('has each id once on a page, and a title and an order of headings', () => {
    for (const [page, html] of rendered()) {
      const ids = attributes(html, 'id');
      expect(ids, page).toEqual([...new Set(ids)]);
      const levels = [...html.matchAll(/<h([1-6])/g)].map(([, level]) => Number(level));
      expect(
        levels.filter((level) => level === 1),
        page,
      ).toHaveLength(1);
      const jumps = levels.filter((level, at) => at > 0 && level > levels[at - 1]! + 1);
      expect(jumps, page).toEqual([]);
    }
  });

  it('has nothing inline, and asks no other host', () => {
    for (const [page, html] of rendered()) {
      expect(html, page).not.toMatch(
        /<style|<[^>]* style=|<[^>]* on[a-z]+=|<script(?! src="[^"]+\.js")/,
      );
      expect(attributes(html, 'src').filter((source) => /^[a-z]*:|^\/\//.test(source))).toEqual([]);
    }
  });

  it('names every page in its navigation, but decisions', () => {
    const named = readNavigation(root).flatMap(({ entries }) => entries.map(({ file }) => file));
    const written = globSync('docs/{*,reference/*,generated/*}.md', { cwd: root });
    expect(written.filter((file) => !named.includes(file))).toEqual(['docs/README.md']);
    expect(named).toEqual([...new Set(named)]);
  });

  it.each([
    ['hmac', 'reference/webhooks-out/#headers'],
    ['dead letters retry', 'operations/#dead-letters'],
    ['SVC_ENCRYPTION_KEY', 'generated/configuration/'],
    ['_svc_metadata', 'reference/records/'],
    ['scan guarantee', 'reference/records/#scan-guarantee'],
    ['dead leter', 'operations/#dead-letters'],
  ])('finds %s', (query, place) => {
    const text = readFileSync(join(folder, 'search.json'), 'utf8');
    const index = MiniSearch.loadJSON<SearchSection>(text, searchOptions);
    const found = index.search(query).slice(0, 12);
    const places = found.map(({ id }) => String(id));
    expect(
      places.some((one) => one.startsWith(place)),
      places.join(' '),
    ).toBe(true);
  });
});

describe('a page of Markdown', () => {
  const links: Links = {
    href: (target) => (target.startsWith('../src') ? null : `to:${target}`),
    repositoryPath: (target) => target.replace('../', ''),
    picture: () => '<svg viewBox="0 0 1 1"><style>.a {}</style><text>a</text></svg>',
  };
  const bodyOf = (text: string): string => renderMarkdown(`# Title\n\n${text}`, links).html;

  it('has the path of a file that only the repository has, in place of a link', () => {
    expect(bodyOf('[rules](../src/rules.ts)')).toContain(
      '<span title="In the repository: src/rules.ts">rules</span> (<code>src/rules.ts</code>)',
    );
    expect(bodyOf('[`src/rules.ts`](../src/rules.ts)')).not.toContain('(<code>');
  });

  it('has a drawing without its own style, named by its text', () => {
    const html = bodyOf('![The "log"](log.svg)');
    expect(html).toContain('<svg role="img" aria-label="The &quot;log&quot;"');
    expect(html).not.toContain('<style');
  });

  it('marks the words of a language, and leaves others as they are', () => {
    expect(bodyOf('```ts\nconst a = "<b>";\n```')).toContain('<span class="hljs-keyword">const');
    expect(bodyOf('```text\n<b>\n```')).toContain('<code>&lt;b&gt;\n</code>');
  });

  it('refuses HTML and a page without a title', () => {
    expect(() => bodyOf('<b>bold</b>')).toThrow('HTML in Markdown: <b>');
    expect(() => bodyOf('<div>\n</div>')).toThrow('HTML in Markdown: <div>');
    expect(bodyOf('<!-- a mark -->')).not.toContain('mark');
    expect(() => renderMarkdown('text', links)).toThrow('does not begin with a title');
  });
});
