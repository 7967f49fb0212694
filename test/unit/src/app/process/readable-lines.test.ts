import { describe, expect, it } from 'vitest';
import { readableLine } from '#app/process/readable-lines.ts';

const time = new Date(2026, 0, 2, 3, 4, 5, 67).getTime();
const shown = (entry: unknown, isColored = false): string =>
  readableLine(`${JSON.stringify(entry)}\n`, { isColored });

describe('a readable line', () => {
  it('has time, level, message and fields, and names other threads than the main one', () => {
    const entry = { level: 40, time, thread: 'main', msg: 'slow', ms: 12, part: 'a b', name: 'x' };
    expect(shown(entry)).toBe('03:04:05.067 WARN  slow ms=12 part="a b" name=x\n');
    expect(shown({ ...entry, thread: 'sealing' })).toContain('slow thread=sealing ms=12');
  });

  it('shows an error with its cause below', () => {
    const err = { type: 'Error', message: 'gone', stack: 'Error: gone\n    at a (b.ts:1:2)' };
    expect(shown({ level: 50, time, thread: 'main', msg: 'failed', err })).toBe(
      '03:04:05.067 ERROR failed\n    Error: gone\n    at a (b.ts:1:2)\n',
    );
  });

  it('escapes what would control the terminal, and cuts long fields', () => {
    const entry = { level: 30, time, msg: '\u001b[2Jx\ny', bell: '\u0007', long: 'a'.repeat(1e4) };
    const line = shown(entry);
    expect(line).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
    expect(line.match(/\n/g)).toHaveLength(1);
    expect(line.length).toBeLessThan(500);
  });

  it('keeps what is no JSON', () => {
    expect(readableLine('plain\n', { isColored: true })).toBe('plain\n');
  });
});
