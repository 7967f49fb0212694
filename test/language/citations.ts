/**
 * Part of `npm run language`: fails on a comment or page that cites what is not in the repository: contracts that were
 * written elsewhere, a page of `docs` that is not there, a heading that its page does not have, or, in the README of a
 * folder or in CONTRIBUTING, a source file that is not there.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import GithubSlugger from 'github-slugger';

const self = 'test/language/citations.ts';

/** Names of pages that are kept nowhere in the repository. */
const elsewhere =
  /contract\/[a-z-]+\.md|\bdesign\ssection|\bmeasured\.md|\bspec(?:ification)? \(?section/;

/** From the root: `docs/records.md#cursor`. Not a part of a longer path. */
const page = /(?<![\w./-])docs\/(?:(?:adr|generated|reference)\/)?[\w.-]+\.md(#[\w-]+)?/g;
/** Of a page: `[text](errors.md#codes)`. */
const link = /\]\((?!https?:|mailto:)([^)\s#]*)(#[^)\s]+)?\)/g;

/** In the README of a folder and in CONTRIBUTING: `modes/mode.ts`, from that folder, the one around it, `src` or the root. */
const source = /`((?:[\w.-]+\/)+[\w.-]+\.(?:ts|js|sql|css))`/g;

interface Citation {
  readonly file: string;
  readonly heading: string | undefined;
}

function* citationsIn(file: string, line: string): Generator<Citation> {
  for (const [text, heading] of line.matchAll(page)) {
    yield { file: text.replace(/#.*/, ''), heading: heading?.slice(1) };
  }
  if (!file.endsWith('.md')) return;
  for (const [, target = '', heading] of line.matchAll(link)) {
    const cited = target === '' ? file : normalize(join(dirname(file), target));
    yield { file: cited, heading: heading?.slice(1) };
  }
}

const anchors = new Map<string, ReadonlySet<string>>();

/** The anchors of a page, as GitHub makes them of its headings. */
function anchorsOf(file: string): ReadonlySet<string> {
  const existing = anchors.get(file);
  if (existing !== undefined) return existing;
  const slugger = new GithubSlugger();
  const text = readFileSync(file, 'utf8').replaceAll(/^```[^]*?^```/gm, '');
  const headings = [...text.matchAll(/^#{1,6} +(.+)$/gm)];
  const found = new Set(
    headings.map(([, heading = '']) =>
      slugger.slug(heading.trim().replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')),
    ),
  );
  anchors.set(file, found);
  return found;
}

function* missingSources(file: string, line: string): Generator<string> {
  if (!/(?:README|CONTRIBUTING)\.md$/.test(file)) return;
  const folder = dirname(file);
  for (const [, cited = ''] of line.matchAll(source)) {
    const places = [folder, dirname(folder), 'src', '.'].map((from) => join(from, cited));
    if (!places.some((place) => existsSync(place))) yield `${cited} is not there`;
  }
}

function problemOf({ file, heading }: Citation): string | null {
  if (!existsSync(file)) return `${file} is not there`;
  if (heading === undefined || !file.endsWith('.md')) return null;
  return anchorsOf(file).has(heading) ? null : `${file} has no heading #${heading}`;
}

const files = execFileSync('git', ['ls-files'], { encoding: 'utf8' })
  .split('\n')
  .filter((file) => /\.(ts|js|cjs|json|md|ya?ml|avsc|sql|css)$/.test(file))
  .filter((file) => file !== self && file !== 'package-lock.json' && existsSync(file));
const problems: string[] = [];
for (const file of files) {
  for (const [at, line] of readFileSync(file, 'utf8').split('\n').entries()) {
    const place = `${file}:${at + 1}`;
    const outside = elsewhere.exec(line)?.[0];
    if (outside !== undefined) {
      problems.push(`${place}: "${outside}" is not in the repository; cite docs/reference`);
    }
    for (const citation of citationsIn(file, line)) {
      const problem = problemOf(citation);
      if (problem !== null) problems.push(`${place}: ${problem}`);
    }
    for (const problem of missingSources(file, line)) problems.push(`${place}: ${problem}`);
  }
}
for (const problem of problems) console.error(problem);
console.log(`${files.length} files, ${problems.length} citations of what is not there`);
process.exitCode = problems.length === 0 ? 0 : 1;
