/**
 * The documentation site: the pages of `docs` with their navigation and a search index, as files that any server can
 * serve. `npm run docs:build -- <folder>` writes them; the gateway has them at `/docs`.
 */
import { createHash } from 'node:crypto';
import { cpSync, existsSync, globSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join, normalize, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import MiniSearch from 'minisearch';
import { searchOptions, type SearchSection } from '#docs-site/search-options.ts';
import { bundlePage, writeCompressed } from '../page-bundles.ts';
import { notFoundPage, sitePage, type Site, type SitePage } from './layout.ts';
import { renderMarkdown, type Links, type RenderedPage } from './markdown.ts';
import { readNavigation, siteFolder, startPage, type NavigationSection } from './navigation.ts';

/** What the site is made of. */
const sources = [
  'docs/**/*.{md,svg,json,txt}',
  'bin/{page-bundles.ts,docs-site/*.ts}',
  'src/docs-site/*.*',
  'src/console/design/*.css',
  'src/console/shell/theme-choice.ts',
  'src/modules/operations/reference/policy.ts',
  'package-lock.json',
];

/** Writes the site to a folder. It is rendered only when a source has changed: compressing it takes seconds. */
export async function buildDocsSite(root: string, folder: string): Promise<void> {
  const cache = join(root, 'node_modules/.cache/docs-site');
  const built = join(cache, hashOf(root, readNavigation(root)));
  if (!existsSync(built)) {
    const fresh = join(cache, `fresh-${process.pid}`);
    await renderSite(root, fresh);
    renameSync(fresh, built);
  }
  cpSync(built, folder, { recursive: true });
}

function hashOf(root: string, navigation: readonly NavigationSection[]): string {
  const files = new Set([...globSync(sources, { cwd: root }), ...pageFiles(root, navigation)]);
  const hash = createHash('sha256');
  for (const file of [...files].sort()) {
    hash.update(`${file}\n`).update(readFileSync(join(root, file)));
  }
  return hash.digest('hex');
}

/** Every page of `docs`, and those beside it that the navigation names. */
function pageFiles(root: string, navigation: readonly NavigationSection[]): readonly string[] {
  const named = navigation.flatMap(({ entries }) => entries.map(({ file }) => file));
  const pages = globSync('docs/**/*.md', { cwd: root }).filter((file) => !isSkill(file));
  return [...new Set([...pages.sort(), ...named])];
}

/** A skill is read by agents, as it is. */
const isSkill = (file: string): boolean => file.endsWith('/SKILL.md');

const agentList = 'docs/llms.txt';

/** Files that the site has as they are: data, the list for agents, and the pages of the list. */
function plainFiles(root: string): readonly string[] {
  const list = readFileSync(join(root, agentList), 'utf8');
  const listed = [...list.matchAll(/\]\(([^)\s]+\.md)\)/g)].map(([, file = '']) => `docs/${file}`);
  return [...globSync('docs/**/*.json', { cwd: root }), agentList, ...listed];
}

async function renderSite(root: string, folder: string): Promise<void> {
  const navigation = readNavigation(root);
  const assets = await bundlePage(root, join(folder, 'assets'), {
    entries: {
      theme: 'src/docs-site/theme.ts',
      site: 'src/docs-site/site.ts',
      style: 'src/docs-site/site.css',
    },
    format: 'iife',
  });
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    version: string;
  };
  const site: Site = { navigation, assets, version };
  const pages = readPages(root, navigation);
  const files: [path: string, text: string | Buffer][] = pages.map((page) => [
    `${siteFolder(page.file)}index.html`,
    sitePage(page, site),
  ]);
  files.push(['404.html', notFoundPage(site)]);
  files.push(['search.json', JSON.stringify(searchIndex(pages, navigation))]);
  for (const file of plainFiles(root))
    files.push([relative('docs', file), readFileSync(join(root, file))]);
  await Promise.all(
    files.map(([path, text]) => writeCompressed(join(folder, path), Buffer.from(text))),
  );
}

function readPages(root: string, navigation: readonly NavigationSection[]): SitePage[] {
  const files = pageFiles(root, navigation);
  const entries = navigation.flatMap((section) => section.entries);
  return files.map((file) => ({
    ...renderFile(root, file, new Set(files)),
    file,
    description: entries.find((entry) => entry.file === file)?.description ?? '',
  }));
}

/** @throws Error that names the page */
function renderFile(root: string, file: string, pages: ReadonlySet<string>): RenderedPage {
  try {
    return renderMarkdown(readFileSync(join(root, file), 'utf8'), linksOf(root, file, pages));
  } catch (cause) {
    throw new Error(`${file}: ${(cause as Error).message}`, { cause });
  }
}

function linksOf(root: string, file: string, pages: ReadonlySet<string>): Links {
  const folder = siteFolder(file);
  const pathOf = (target: string): string => normalize(join(file, '..', target.replace(/#.*/, '')));
  return {
    href(target) {
      if (/^([a-z]+:|#)/.test(target)) return target;
      const [, anchor = ''] = /(#.*)$/.exec(target) ?? [];
      const path = pathOf(target);
      if (!existsSync(join(root, path))) throw new Error(`There is no ${path}`);
      const page = [path, join(path, 'README.md')].find((one) => pages.has(one));
      if (page !== undefined) return `${relativeUrl(folder, siteFolder(page))}${anchor}`;
      const isPlain = /^docs\/.*\.json$/.test(path) || isSkill(path);
      return isPlain ? relativeUrl(folder, relative('docs', path)) : null;
    },
    repositoryPath: pathOf,
    picture: (target) => readFileSync(join(root, pathOf(target)), 'utf8'),
  };
}

/** Between places of the site: a folder ends with a slash. */
function relativeUrl(from: string, to: string): string {
  const path = relative(`/${from}`, `/${to}`) || '.';
  return to.endsWith('/') || to === '' ? `${path}/` : path;
}

/** Pages outside of the navigation, such as decisions, come after the others. */
function searchIndex(
  pages: readonly SitePage[],
  navigation: readonly NavigationSection[],
): MiniSearch<SearchSection> {
  const named = new Set(navigation.flatMap(({ entries }) => entries.map(({ file }) => file)));
  const index = new MiniSearch<SearchSection>(searchOptions);
  for (const { file, title, sections } of pages.filter((page) => page.file !== startPage)) {
    for (const { level, text, anchor, body } of sections) {
      const heading = level === 1 ? '' : text;
      const id = level === 1 ? siteFolder(file) : `${siteFolder(file)}#${anchor}`;
      index.add({ id, title, heading, body: body.trim(), weight: named.has(file) ? 1 : 0.3 });
    }
  }
  return index;
}

if (import.meta.main) {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const folder = resolve(process.argv[2] ?? join(root, 'dist/docs-site'));
  rmSync(folder, { recursive: true, force: true });
  await buildDocsSite(root, folder);
  // Imported here: the gateway, which answers it from its own routes, is built without it.
  const { writeApiReference } = await import('./api-reference.ts');
  await writeApiReference(root, folder);
  console.log(`${globSync('**/*.html', { cwd: folder }).length} pages in ${folder}`);
}
