import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  folderMapProblems,
  longSentences,
  missingFiles,
  unnamedFiles,
} from '#test/language/folder-maps.ts';

it('the READMEs of src and streams name every file, in short sentences', () => {
  const files = execFileSync('git', ['ls-files', 'src', 'streams'], { encoding: 'utf8' })
    .split('\n')
    .filter((file) => file !== '' && existsSync(file));
  const textOf = (readme: string): string => readFileSync(readme, 'utf8');
  expect(folderMapProblems(files, textOf, existsSync)).toEqual([]);
});

describe('a README as a map', () => {
  const readme = ['| File | Answers |', '| --- | --- |', '| `a.ts` | What is a? |', ''].join('\n');

  it('lacks a file, a folder with a README, and a file of a folder without one', () => {
    const texts = new Map([
      ['src/x/README.md', readme],
      ['src/x/y/README.md', '`b.ts`'],
      ['src/README.md', '[x](x)'],
    ]);
    const tree = ['src/x/a.ts', 'src/x/c.ts', 'src/x/z/d.ts', 'src/x/y/b.ts', ...texts.keys()];
    const unnamed = unnamedFiles(tree, (file) => texts.get(file) ?? '');
    expect(unnamed).toEqual(['src/x/c.ts', 'src/x/z/d.ts', 'src/x/y/README.md']);
  });

  it('names data by a pattern, and code file by file', () => {
    const tree = ['src/README.md', 'src/a.yaml', 'src/b.ts', 'src/texts/de.ts'];
    expect(unnamedFiles(tree, () => '`*.yaml`, `*.ts`, `texts/*.ts`')).toEqual(['src/b.ts']);
  });

  it('is stale where it names a file that is not there', () => {
    expect(missingFiles('src/x/README.md', readme, () => false)).toEqual([
      'src/x/README.md:3: src/x/a.ts is not there',
    ]);
  });

  it('has sentences of at most 25 words', () => {
    const words = (count: number): string => Array.from({ length: count }, () => 'word').join(' ');
    const text = `${words(25)}. ${words(20)}\n${words(6)}.\n\n- ${words(5)}\n- ${words(25)}`;
    expect([...longSentences(text)]).toEqual([{ line: 1, text: `${words(20)} ${words(6)}.` }]);
  });
});
