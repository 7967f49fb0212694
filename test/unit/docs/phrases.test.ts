import { describe, expect, it } from 'vitest';
import { findPhrases } from '#test/language/phrases.ts';

const found = (file: string, text: string) =>
  [...findPhrases(file, text)].map(({ line, text: phrase }) => `${line}: ${phrase}`);

describe('a phrase that is not technical English', () => {
  it('is found in comments, with its line', () => {
    const text = [
      '/** Colour of the text. */',
      'const a = 1; // Made anew.',
      '/**',
      ' * Rebuilt for each reader.',
      ' * The answer is for whoever reads it.',
      ' */',
      'const b = `${a}`; /* Mended. */',
    ].join('\n');
    expect(found('a.ts', text).sort()).toEqual(['1: Colour', '2: anew', '5: whoever', '7: Mended']);
  });

  it('is found where a line ends within it', () => {
    expect(found('a.ts', '/**\n * The error that comes\n * of it.\n */')).toEqual([
      '2: comes of it',
    ]);
    expect(found('a.md', 'Where no server is to\nbe had.\n')).toEqual(['1: to be had']);
  });

  it('is found in the titles of tests', () => {
    const text = [
      "describe('a catalogue', () => {",
      '  it.each([1, 2])(`is ${mended} anew: %s`, () => run("anew"));',
      '});',
    ].join('\n');
    expect(found('a.test.ts', text)).toEqual(['1: catalogue', '2: anew']);
  });

  it('is left alone in strings, templates and expressions', () => {
    const text = "const a = 'anew // anew'; const b = `anew ${a} /* anew */`; const c = /anew/;";
    expect(found('a.ts', text)).toEqual([]);
  });

  it('is left alone where it is a name of a page', () => {
    const text = 'See `mend`, [a provider](providers/catalogue/a.yaml) and\n\n```sh\nmend\n```\n';
    expect(found('a.md', text)).toEqual([]);
  });
});
