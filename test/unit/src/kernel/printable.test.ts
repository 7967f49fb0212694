import { describe, expect, it } from 'vitest';
import { outputTo } from '#cli/output.ts';
import { printable, printableLines } from '#kernel/printable.ts';

const hostile = 'a\u001b[31m\u202eb\u2066\u0085\u200b\ufeff\u{e0041}\u2028c';

describe('text from outside', () => {
  it('commands no terminal, and reorders or hides nothing', () => {
    expect(printable(`${hostile}\n`)).toBe(
      'a\\x1b[31m\\u202eb\\u2066\\x85\\u200b\\ufeff\\udb40\\udc41\\u2028c\\x0a',
    );
    expect(printableLines('one\n\ttwo\r')).toBe('one\n\ttwo\\u000d');
  });

  it('of every language stays as it is', () => {
    for (const text of [
      'שלום',
      'می\u200cخواهم',
      '👩\u200d👩\u200d👧',
      '❤\ufe0f',
      'naïve',
      '漢字',
    ]) {
      expect(printable(text)).toBe(text);
    }
  });

  it('in a document of JSON stays the same document', () => {
    expect(JSON.parse(printableLines(JSON.stringify({ [hostile]: hostile })))).toEqual({
      [hostile]: hostile,
    });
  });

  it('is escaped in all output of a command, which colors alone command', () => {
    const written = { out: '', err: '' };
    const streamTo = (name: keyof typeof written) => ({
      isTTY: true,
      write: (text: string) => (written[name] += text),
    });
    const output = outputTo(streamTo('out'), streamTo('err'));
    output.result(output.paint('red', hostile));
    output.note(hostile);
    output.status(hostile);
    const safe = printableLines(hostile);
    expect(written).toEqual({ out: `\u001b[31m${safe}\u001b[39m\n`, err: `${safe}\n${safe}` });
  });
});
