import GithubSlugger from 'github-slugger';
import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import csharp from 'highlight.js/lib/languages/csharp';
import go from 'highlight.js/lib/languages/go';
import java from 'highlight.js/lib/languages/java';
import json from 'highlight.js/lib/languages/json';
import php from 'highlight.js/lib/languages/php';
import python from 'highlight.js/lib/languages/python';
import ruby from 'highlight.js/lib/languages/ruby';
import rust from 'highlight.js/lib/languages/rust';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';
import MarkdownIt, { type Token } from 'markdown-it';

/** By the name after the fence of a code block; each knows its aliases, such as `sh` and `ts`. */
const languages = {
  bash,
  csharp,
  go,
  java,
  json,
  php,
  python,
  ruby,
  rust,
  sql,
  typescript,
  xml,
  yaml,
};
for (const [name, language] of Object.entries(languages)) hljs.registerLanguage(name, language);
hljs.registerAliases(['js', 'javascript'], { languageName: 'typescript' });

export interface Heading {
  readonly level: number;
  readonly text: string;
  readonly anchor: string;
}

/** The text below one heading, for the search. */
export interface Section extends Heading {
  readonly body: string;
}

export interface RenderedPage {
  readonly title: string;
  readonly html: string;
  /** The first is the title of the page. */
  readonly sections: readonly Section[];
}

export interface Links {
  /** Where a link of the page leads in the site; null: a file that only the repository has. */
  href(target: string): string | null;
  /** From the root of the repository, for the links that the site cannot follow. */
  repositoryPath(target: string): string;
  /** The text of an SVG file. */
  picture(target: string): string;
}

export const escapeHtml = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');

/**
 * A page as HTML, with the anchors that Git hosts give to headings.
 * @throws Error on HTML in the text, on a page without a title, and on what `links` refuses
 */
export function renderMarkdown(text: string, links: Links): RenderedPage {
  const md = new MarkdownIt({ html: true, highlight });
  const tokens = md.parse(text, {});
  const sections = numberHeadings(tokens);
  const [first] = sections;
  if (first?.level !== 1) throw new Error('The page does not begin with a title');
  followLinks(tokens, links);
  Object.assign(md.renderer.rules, {
    table_open: () => '<div class="table" tabindex="0"><table>',
    table_close: () => '</table></div>',
    heading_close: headingEnd,
    image: of((token) => picture(token, links)),
    html_block: of(comment),
    html_inline: of(comment),
    link_close: of(linkEnd),
    fence: of(codeBlock),
  });
  return { title: first.text, html: md.renderer.render(tokens, md.options, {}), sections };
}

function tokenAt(tokens: readonly Token[], at: number): Token {
  const token = tokens[at];
  if (token === undefined) throw new Error(`There is no token ${at}`);
  return token;
}

/** A rule of the renderer that needs nothing but its token. */
const of =
  (render: (token: Token) => string) =>
  (tokens: readonly Token[], at: number): string =>
    render(tokenAt(tokens, at));

function highlight(code: string, language: string): string {
  if (hljs.getLanguage(language) === undefined) return escapeHtml(code);
  return hljs.highlight(code, { language, ignoreIllegals: true }).value;
}

function codeBlock({ info, content }: Token): string {
  const [language = ''] = info.trim().split(/\s+/);
  const label = language === '' ? '' : ` data-language="${escapeHtml(language)}"`;
  return `<div class="code-block"${label}><pre tabindex="0"><code>${highlight(content, language)}</code></pre></div>\n`;
}

/** @see nameFile */
const linkEnd = ({ tag, meta }: Token): string =>
  `</${tag}>${meta === null ? '' : ` (<code>${escapeHtml(String(meta['path']))}</code>)`}`;

/** Marks of generated parts. Other HTML would be shown differently by Git hosts. */
function comment({ content }: Token): string {
  if (/^\s*<!--[^]*-->\s*$/.test(content)) return '';
  throw new Error(`HTML in Markdown: ${content.trim()}`);
}

/** Sets the anchors. @returns the headings with the text below each */
function numberHeadings(tokens: readonly Token[]): Section[] {
  const slugger = new GithubSlugger();
  const sections: { level: number; text: string; anchor: string; body: string }[] = [];
  tokens.forEach((token, at) => {
    if (token.type === 'heading_open') {
      const text = plainText(tokenAt(tokens, at + 1));
      const anchor = slugger.slug(text);
      token.attrSet('id', anchor);
      sections.push({ level: Number(token.tag.slice(1)), text, anchor, body: '' });
    }
    const isBody = token.type === 'inline' && tokens[at - 1]?.type !== 'heading_open';
    const section = sections.at(-1);
    if (section === undefined) return;
    if (isBody) section.body += `${plainText(token)} `;
    if (token.type === 'fence') section.body += `${token.content} `;
  });
  return sections;
}

const plainText = (token: Token): string =>
  (token.children ?? [])
    .map(({ type, content }) => (/^(text|code_inline)$/.test(type) ? content : ' '))
    .join('')
    .replaceAll(/\s+/g, ' ')
    .trim();

/** A link to the heading itself, after its text; the title of the page has none. */
function headingEnd(tokens: readonly Token[], at: number): string {
  const { tag } = tokenAt(tokens, at);
  if (tag === 'h1') return '</h1>\n';
  const anchor = tokenAt(tokens, at - 2).attrGet('id') ?? '';
  const label = escapeHtml(`Link to "${plainText(tokenAt(tokens, at - 1))}"`);
  return ` <a class="anchor" href="#${anchor}" aria-label="${label}">#</a></${tag}>\n`;
}

function followLinks(tokens: readonly Token[], links: Links): void {
  for (const { children } of tokens) {
    const inline = children ?? [];
    for (const [at, token] of inline.entries()) {
      if (token.type !== 'link_open') continue;
      const target = String(token.attrGet('href'));
      const href = links.href(target);
      if (href === null) nameFile(inline, at, links.repositoryPath(target));
      else token.attrSet('href', href);
    }
  }
}

/** In place of a link to a file that the site does not have: its text, and the path unless the text is its end. */
function nameFile(inline: readonly Token[], at: number, path: string): void {
  const end = inline.findIndex(({ type }, place) => place > at && type === 'link_close');
  const text = inline.slice(at + 1, end).map(({ content }) => content);
  const isNamed = path
    .replace(/\/README\.md$/, '')
    .endsWith(text.join('').replace(/^(\.\.\/)+/, ''));
  const [open, close] = [tokenAt(inline, at), tokenAt(inline, end)];
  open.tag = 'span';
  open.attrs = [['title', `In the repository: ${path}`]];
  close.tag = 'span';
  close.meta = isNamed ? null : { path };
}

/** A drawing becomes a part of the page: its colors are those of the theme. */
function picture(token: Token, links: Links): string {
  const drawing = links.picture(String(token.attrGet('src')));
  const label = escapeHtml(plainText(token));
  const named = drawing
    .replace(/<style>[^]*?<\/style>\s*/, '')
    .replace('<svg ', `<svg role="img" aria-label="${label}" `);
  return `<span class="diagram" tabindex="0">${named}</span>`;
}
