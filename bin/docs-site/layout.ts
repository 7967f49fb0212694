import { sitePolicy } from '#modules/operations/reference/policy.ts';
import { escapeHtml, type RenderedPage } from './markdown.ts';
import {
  siteFolder,
  startPage,
  type NavigationEntry,
  type NavigationSection,
} from './navigation.ts';

export interface SitePage extends RenderedPage {
  readonly file: string;
  readonly description: string;
}

export interface Site {
  readonly navigation: readonly NavigationSection[];
  /** Names of the files in `assets/`, by their entry. */
  readonly assets: Readonly<Record<'theme' | 'site' | 'style', string>>;
  readonly version: string;
}

/** A whole page. Links are relative, so that the site can be served below any path. */
export function sitePage(page: SitePage, site: Site): string {
  const folder = siteFolder(page.file);
  const top = '../'.repeat(folder.split('/').length - 1) || './';
  const title = page.file === startPage ? 'svc documentation' : `${page.title} · svc documentation`;
  const section = site.navigation.find(({ entries }) =>
    entries.some(({ file }) => file === page.file),
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="${sitePolicy.join('; ')}">
<meta name="referrer" content="no-referrer">
<meta name="description" content="${escapeHtml(page.description)}">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${top}assets/${site.assets.style}">
<script src="${top}assets/${site.assets.theme}"></script>
<script src="${top}assets/${site.assets.site}" defer></script>
</head>
<body data-top="${top}">
<a class="skip" href="#content">Skip to the content</a>
<header class="top">
<button type="button" class="menu-button" aria-controls="navigation" aria-expanded="false" hidden>Menu</button>
<a class="brand" href="${top}">svc <span>documentation</span></a>
<form class="search" role="search" hidden>
<input type="search" name="q" placeholder="Search" aria-label="Search the documentation" autocomplete="off" spellcheck="false" aria-controls="results">
<div id="results" class="results" hidden></div>
</form>
<span class="version">${escapeHtml(site.version)}</span>
<button type="button" class="theme-button" hidden>Theme</button>
</header>
<nav id="navigation" class="sidebar" aria-label="Pages">${sidebar(page.file, top, site.navigation)}</nav>
<main id="content" tabindex="-1">
<article>
${section === undefined ? '' : `<p class="eyebrow">${escapeHtml(section.title)}</p>`}
${folder === '' ? withCards(page, site.navigation) : page.html}</article>
${neighbors(page.file, top, site.navigation)}
</main>
${contents(page)}
</body>
</html>
`;
}

/** The page for an address that has none, at the top of the site, with links to all others. */
export const notFoundPage = (site: Site): string =>
  sitePage({ ...notFound, file: '', description: '' }, site);

const notFound: RenderedPage = {
  title: 'Page not found',
  html: '<h1 id="page-not-found">Page not found</h1><p>The documentation has no page at this address. Search for it in the header, or begin with one of these pages.</p>',
  sections: [],
};

/** The introduction of the page, and the lists of pages as cards. */
function withCards({ html }: RenderedPage, navigation: readonly NavigationSection[]): string {
  const sections = navigation.map(({ title, entries }) => {
    const cards = entries.map(
      (entry) => `<li>${linkTo('./', entry)}<span>${escapeHtml(entry.description)}</span></li>`,
    );
    const anchor = title.toLowerCase().replaceAll(' ', '-');
    return `<h2 id="${anchor}">${escapeHtml(title)}</h2><ul class="cards">${cards.join('')}</ul>`;
  });
  const [introduction = ''] = html.split('<h2', 1);
  return introduction + sections.join('\n');
}

const linkTo = (top: string, { file, title }: NavigationEntry, attributes = ''): string =>
  `<a href="${top}${siteFolder(file)}"${attributes}>${escapeHtml(title)}</a>`;

function sidebar(current: string, top: string, navigation: readonly NavigationSection[]): string {
  const groups = navigation.map(({ title, entries }) => {
    const links = entries.map((entry) => {
      const mark = entry.file === current ? ' aria-current="page"' : '';
      return `<li>${linkTo(top, entry, mark)}</li>`;
    });
    return `<p class="label">${escapeHtml(title)}</p><ul>${links.join('')}</ul>`;
  });
  const api = `<ul><li><a href="${top}api/">API reference</a></li></ul>`;
  return `\n${api}\n${groups.join('\n')}\n`;
}

function neighbors(current: string, top: string, navigation: readonly NavigationSection[]): string {
  const all = navigation.flatMap(({ entries }) => entries);
  const at = all.findIndex(({ file }) => file === current);
  if (at < 0) return '';
  const [before, after] = [all[at - 1], all[at + 1]];
  const previous = before === undefined ? '' : linkTo(top, before, ' rel="prev"');
  const next = after === undefined ? '' : linkTo(top, after, ' rel="next"');
  return `<nav class="neighbors" aria-label="Previous and next page">${previous}${next}</nav>`;
}

/** The headings of the page, beside it; none for a page of one part. */
function contents({ sections }: RenderedPage): string {
  const headings = sections.filter(({ level }) => level === 2 || level === 3);
  if (headings.length < 2) return '';
  const links = headings.map(
    ({ level, anchor, text }) =>
      `<li class="level-${level}"><a href="#${anchor}">${escapeHtml(text)}</a></li>`,
  );
  return `<nav class="contents" aria-label="On this page"><p class="label">On this page</p><ul>${links.join('')}</ul></nav>`;
}
