/**
 * Words and constructions that comments, titles of tests and pages do not use. A phrase enters the list when the tree is free of it;
 * those of the field are in docs/glossary.md.
 */
import { commentsOf, titlesOf } from './comments.ts';

export interface Phrase {
  readonly phrase: RegExp;
  /** What to write instead. */
  readonly use: string;
}

export interface Finding {
  readonly line: number;
  readonly text: string;
  readonly use: string;
}

export const phrases: readonly Phrase[] = [
  { phrase: /\banew\b/gi, use: 'again; rebuild, recreate, rewrap' },
  { phrase: /\bmend(s|ed|ing)?\b/gi, use: 'fix' },
  { phrase: /\b(for|within|of|per|takes?) so long\b(?! (as|that))/gi, use: 'How long …' },
  { phrase: /\bto be had\b/gi, use: 'there is, available' },
  { phrase: /\bcomes? of it\b/gi, use: 'the outcome, the result' },
  { phrase: /\bwhoever\b/gi, use: 'the caller, the owner, the process, the reader: name it' },
  { phrase: /\bstays? dead\b/gi, use: 'stale' },
  { phrase: /\bnobody is told\b/gi, use: 'not published until …' },
  { phrase: /\bnobody waits\b/gi, use: 'in the background, asynchronous; has expired' },
  { phrase: /\bwho asks\b/gi, use: 'the caller; a later request' },
  { phrase: /\bwho dies\b/gi, use: 'a crashed holder' },
  { phrase: /\bhas something to say\b/gi, use: 'enqueues a command' },
  { phrase: /\b(colour|neighbour|behaviour|favour|honour|labour)\w*/gi, use: '-or: US spelling' },
  {
    phrase:
      /\b(author|initial|material|real|recogn|serial|normal|local|organ|optim|minim|summar|synchron|token|util|general)is(e[ds]?|ing|ation)\b/gi,
    use: '-ize: US spelling',
  },
  { phrase: /\b(signall|travell|labell|modell)(ed|ing)\b/gi, use: 'one l: US spelling' },
  { phrase: /\b(cancelling|licence|defence|judgement|data centre|grey)\b/gi, use: 'US spelling' },
  { phrase: /\bsigns? of life\b/gi, use: 'heartbeat' },
  { phrase: /\b(has|had|have) let go of\b/gi, use: 'the log has deleted it' },
  { phrase: /\bwhat is (said|told)\b/gi, use: 'the published, reported or returned value' },
  { phrase: /\bmirrors (the record of )?schemas\b/gi, use: '@see schemas/…' },
  { phrase: /\bcatalogues?\b/gi, use: 'catalog' },
  { phrase: /\btold\b/gi, use: 'notified, informed, reported, published, passed' },
  { phrase: /\btell(s|ing)?\b/gi, use: 'report, notify, publish, return; distinguish; show' },
  { phrase: /\bwhat becomes of\b/gi, use: 'the outcome of' },
  { phrase: /\bwho waits?\b/gi, use: 'the waiting request, the waiter: name it' },
  { phrase: /\bvouch(es|ed)?\b/gi, use: 'verified, authenticated' },
  { phrase: /\bat hand\b/gi, use: 'available, cached, in memory' },
];

/** Names in backticks, code blocks, targets of links and file names are not prose. */
const notProse =
  /^```[^]*?^```|`[^`\n]*`|\]\([^)]*\)|[\w./-]*catalogue(?:\/[\w*./-]*|\.[\w.]*ts)|test-artefacts/gm;

const blank = (text: string): string => text.replaceAll(/[^\n]/g, ' ');

/** The phrases in the comments and titles of tests of a file of TypeScript, or in a page. */
export function* findPhrases(file: string, text: string): Generator<Finding> {
  const parts = file.endsWith('.md')
    ? [{ line: 1, text }]
    : [...commentsOf(file, text), ...titlesOf(file, text)];
  for (const part of parts) {
    // One line, so that a phrase is found where a line ends within it.
    const starts: number[] = [];
    let prose = '';
    for (const line of part.text.replaceAll(notProse, blank).split('\n')) {
      starts.push(prose.length);
      prose += `${line.trim().replace(/^(\*|\/\/) /, '')} `;
    }
    for (const { phrase, use } of phrases) {
      for (const found of prose.matchAll(phrase)) {
        const line = part.line + starts.findLastIndex((start) => start <= found.index);
        yield { line, text: found[0], use };
      }
    }
  }
}
