import { readFileSync } from 'node:fs';
import { join, normalize } from 'node:path';

/** The page that lists the others: the order of the sidebar, and the start page. */
export const startPage = 'docs/README.md';

export interface NavigationEntry {
  readonly title: string;
  /** Path of the Markdown file from the root of the repository. */
  readonly file: string;
  readonly description: string;
}

export interface NavigationSection {
  readonly title: string;
  readonly entries: readonly NavigationEntry[];
}

/** `- [Records](records.md): cursors, history` */
const entry = /^- \[([^\]]+)\]\(([^)\s#]+\.md)\): (.+)$/;

/**
 * The sections of `docs/README.md`, each a heading with a list of links.
 * @throws Error when a list item is not a link to a page with a description
 */
export function readNavigation(root: string): readonly NavigationSection[] {
  const sections: { title: string; entries: NavigationEntry[] }[] = [];
  for (const line of readFileSync(join(root, startPage), 'utf8').split('\n')) {
    if (line.startsWith('## ')) sections.push({ title: line.slice(3).trim(), entries: [] });
    if (!line.startsWith('- ')) continue;
    const [, title, target = '', description = ''] = entry.exec(line) ?? [];
    const section = sections.at(-1);
    if (title === undefined || section === undefined)
      throw new Error(
        `${startPage}: "${line}" is not "- [Title](page.md): description" in a section`,
      );
    section.entries.push({
      title,
      file: normalize(join('docs', target)),
      description,
    });
  }
  return sections;
}

/** The folder of a page in the site: `docs/reference/http.md` is at `reference/http/`, `docs/README.md` at the top. */
export const siteFolder = (file: string): string =>
  `${file.replace(/^docs\//, '').replace(/(^|\/)README\.md$|\.md$/, '')}/`.replace(/^\//, '');
