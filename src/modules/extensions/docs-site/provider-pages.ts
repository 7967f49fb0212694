import { escapedMarkup } from '#kernel/markup.ts';
import type { Provider } from '#modules/connections/providers/definition.ts';
import type { Template } from '#rules/templates.ts';
import type { PageSection } from './provider-html.ts';
import { introductionOf, sectionsOf } from './provider-sections.ts';
import { templateIntroduction, templateSections } from './template-page.ts';

/** The list of the catalog in the page `providers/` of the site, by category. */
export function providerListPage(template: string, providers: readonly Provider[]): string {
  const byCategory = Map.groupBy(providers, categoryOf);
  const sections = [...byCategory]
    .sort(([a], [b]) => Number(a === 'other') - Number(b === 'other') || (a < b ? -1 : 1))
    .map(([category, members]) => ({
      anchor: `category-${encodeURIComponent(category)}`,
      title: categoryTitle(category),
      html: `<ul class="providers">${members.toSorted(byTitle).map(listItem).join('')}</ul>`,
    }));
  // Hidden until the script of the site can search.
  const search = `<div class="provider-search">
<div role="search" aria-label="Providers" hidden><input type="search" placeholder="Name, category or mode" aria-label="Search the providers" autocomplete="off" spellcheck="false"></div>
<p role="status">${providers.length} providers</p>
</div>`;
  const html = `${search}\n${sections.map(shownSection).join('\n')}`;
  return template
    .replace('</article>', () => `${html}</article>`)
    .replace('</body>', () => `${contentsOf(sections)}</body>`);
}

const byTitle = ({ display_name: a }: Provider, { display_name: b }: Provider): number =>
  a.localeCompare(b, 'en');

const categoryOf = ({ categories }: Provider): string =>
  categories.find((category) => category !== 'popular') ?? 'other';

const abbreviations = new Set(['ai', 'ats', 'cms', 'crm', 'erp', 'hr', 'mcp']);

function categoryTitle(category: string): string {
  if (abbreviations.has(category)) return category.toUpperCase();
  const words = category.startsWith('e-') ? category : category.replaceAll('-', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The logo is at the top of the gateway, and `site` the path from a page to the top of the site. */
const logo = (name: string, site: string): string =>
  `<img loading="lazy" src="${site}../images/template-logos/${encodeURIComponent(name)}.svg" alt="" width="24" height="24">`;

function listItem({
  name,
  display_name: title,
  categories,
  auth_mode: mode,
  aliases = [],
}: Provider): string {
  const words = [title, name, ...aliases, ...categories, mode].join(' ').toLowerCase();
  return `<li data-words="${escapedMarkup(words)}"><a href="${encodeURIComponent(name)}/">${logo(name, '../')}<span>${escapedMarkup(title)}</span></a></li>`;
}

/** The page of a provider in the frame of `providers/`, one folder deeper. */
export function providerPage(template: string, provider: Provider, publicUrl: string): string {
  const { name, display_name: title } = provider;
  const sections = sectionsOf(provider, publicUrl);
  const head = `<p class="eyebrow"><a href="../">Providers</a></p>
<h1 id="provider" class="provider-title">${logo(name, '../../')}${escapedMarkup(title)}</h1>
${introductionOf(provider)}`;
  return framed(oneFolderDeeper(template), { title, head, sections });
}

/** The page of a template in the same frame, in a folder of the provider's. */
export function templatePage(frame: string, provider: Provider, template: Template): string {
  const title = `${provider.display_name}: ${template.name}`;
  const head = `<p class="eyebrow"><a href="../../">Providers</a> / <a href="../">${escapedMarkup(provider.display_name)}</a></p>
<h1 id="template">${escapedMarkup(template.name)}</h1>
${templateIntroduction(template)}`;
  const sections = templateSections(template);
  return framed(oneFolderDeeper(oneFolderDeeper(frame)), { title, head, sections });
}

interface Article {
  readonly title: string;
  readonly head: string;
  readonly sections: readonly PageSection[];
}

/** The frame with another article, in place of its own and of its neighbors. */
function framed(frame: string, { title, head, sections }: Article): string {
  const article = `<article>\n${head}\n${sections.map(shownSection).join('\n')}\n</article>`;
  const end = '</article>';
  const before = frame
    .slice(0, frame.indexOf('<article>'))
    .replace(/<title>[^<]*/, () => `<title>${escapedMarkup(title)} · svc documentation`)
    .replace(
      /(<meta name="description" content=")[^"]*/,
      (_, start: string) => `${start}${escapedMarkup(title)}`,
    );
  const after = frame
    .slice(frame.indexOf(end) + end.length)
    .replace(/<nav class="neighbors"[^]*?<\/nav>/, '')
    .replace('</body>', () => `${contentsOf(sections)}</body>`);
  return `${before}${article}${after}`;
}

const oneFolderDeeper = (html: string): string => html.replaceAll('="../', '="../../');

const shownSection = ({ anchor, title, html }: PageSection): string =>
  `<section><h2 id="${escapedMarkup(anchor)}">${escapedMarkup(title)}</h2>\n${html}</section>`;

function contentsOf(sections: readonly PageSection[]): string {
  const links = sections.map(
    ({ anchor, title }) =>
      `<li class="level-2"><a href="#${escapedMarkup(encodeURIComponent(anchor))}">${escapedMarkup(title)}</a></li>`,
  );
  return `<nav class="contents" aria-label="On this page"><p class="label">On this page</p><ul>${links.join('')}</ul></nav>\n`;
}
