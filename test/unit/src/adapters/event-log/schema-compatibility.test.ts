import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  checkSchemas,
  incompatibilities,
  mustBeCompatible,
} from '#adapters/event-log/schema-compatibility.ts';
import { temporaryFolder } from '#test/support/worlds/embedded-log.ts';

type Field = readonly [name: string, type: unknown, preset?: unknown];

const record = (...fields: Field[]) =>
  JSON.stringify({
    type: 'record',
    name: 'R',
    doc: 'A record.',
    fields: fields.map(([name, type, preset]) => ({ name, type, default: preset })),
  });

const isFine = (one: string, other: string): boolean => incompatibilities(one, other).length === 0;

describe('two versions live together', () => {
  const base = record(['a', 'string']);
  const micros = { type: 'long', logicalType: 'timestamp-micros' };

  it('when the fields in which they differ have defaults', () => {
    expect(isFine(record(['a', 'string'], ['b', ['null', 'string'], null]), base)).toBe(true);
    expect(isFine(record(['a', 'string'], ['b', 'int', 3]), base)).toBe(true);
  });

  it('not when a field without a default comes or goes', () => {
    const more = record(['a', 'string'], ['b', 'string']);
    expect(isFine(more, base)).toBe(false);
    expect(isFine(base, more)).toBe(false);
  });

  it('not when a type changes, even to one that could hold the old', () => {
    expect(isFine(record(['a', 'long']), record(['a', 'int']))).toBe(false);
    expect(isFine(record(['a', ['null', 'string']]), base)).toBe(false);
    expect(isFine(record(['a', { type: 'array', items: 'int' }]), base)).toBe(false);
  });

  it('not when an enum gains or loses a symbol', () => {
    const withSymbols = (...symbols: string[]) =>
      record(['a', { type: 'enum', name: 'E', symbols }]);
    expect(isFine(withSymbols('x', 'y'), withSymbols('x'))).toBe(false);
  });

  it('not when the logical type changes, which Avro itself lets pass', () => {
    const millis = { type: 'long', logicalType: 'timestamp-millis' };
    expect(isFine(record(['a', micros]), record(['a', millis]))).toBe(false);
    expect(isFine(record(['a', ['null', micros]]), record(['a', ['null', 'long']]))).toBe(false);
    expect(isFine(record(['a', ['null', micros]]), record(['a', ['null', micros]]))).toBe(true);
  });

  it('not when a nested record or the items of an array break', () => {
    const nested = (...fields: Field[]) => {
      const items = { ...(JSON.parse(record(...fields)) as object), name: 'In' };
      return record(['in', { type: 'array', items }]);
    };
    expect(isFine(nested(['a', 'string']), nested(['a', 'string']))).toBe(true);
    expect(isFine(nested(['a', 'string'], ['b', 'string']), nested(['a', 'string']))).toBe(false);
    expect(isFine(nested(['a', micros]), nested(['a', 'long']))).toBe(false);
  });
});

describe('a new version', () => {
  it('is checked against all earlier ones, with every reason in the result', () => {
    const versions = [record(['a', 'string']), record(['a', 'string'], ['b', 'int', 0])];
    expect(() => mustBeCompatible('s', record(['a', 'int']), versions)).toThrow(/s breaks/);
    expect(() => mustBeCompatible('s', record(['a', 'string']), versions)).not.toThrow();
  });

  it('that is no Avro schema is refused', () => {
    const code = 'incompatible_schema';
    for (const text of ['{', '{"type":"nothing"}']) {
      expect(() => mustBeCompatible('s', text, [])).toThrow(expect.objectContaining({ code }));
    }
  });
});

describe('the schema files', () => {
  it('are checked against the versions of them that were released', async () => {
    await using folder = await temporaryFolder();
    const write = async (file: string, content: string) => {
      await mkdir(dirname(join(folder.path, file)), { recursive: true });
      await writeFile(join(folder.path, file), content);
    };
    const url = pathToFileURL(`${folder.path}/`);
    await write('nouns/a.v1.avsc', record(['a', 'string']));
    await write('released/nouns/a.v1/1.0.0.avsc', record(['a', 'string'], ['b', 'int', 0]));
    expect(checkSchemas(url)).toEqual([]);
    await write('released/nouns/a.v1/1.1.0.avsc', record(['a', 'bytes']));
    await write('nouns/b.v1.avsc', record(['a', 'string']).replace('A record.', ''));
    await write('nouns/c.v1.avsc', 'not JSON');
    const faults = checkSchemas(url);
    expect(faults).toHaveLength(3);
    expect(faults[0]).toContain('a.v1.avsc breaks');
    expect(faults[1]).toContain('b.v1.avsc has no doc');
    expect(faults[2]).toContain('c.v1.avsc');
  });

  it('of this repository are in order', () => {
    const schemas = new URL('../../../../../schemas/', import.meta.url);
    expect(checkSchemas(schemas)).toEqual([]);
  });
});
