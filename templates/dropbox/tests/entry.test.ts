import { expect, it } from 'vitest';
import { changesOf, type DropboxEntry } from '../entry.js';

const entry = (tag: DropboxEntry['.tag'], path: string): DropboxEntry => ({
  '.tag': tag,
  name: path.slice(path.lastIndexOf('/') + 1),
  path_lower: path,
  path_display: path,
});

const pathsOf = (entries: DropboxEntry[]): string[] => entries.map(({ path_lower: path }) => path);

it('drops what lies below a path that a file takes', () => {
  const changes = changesOf([
    entry('folder', '/a'),
    entry('file', '/a/b'),
    entry('file', '/ab'),
    entry('file', '/a'),
  ]);
  expect(pathsOf(changes.saved)).toEqual(['/ab', '/a']);
  expect([...changes.files]).toEqual(['/a/b', '/ab', '/a']);
  expect([...changes.removed]).toEqual([]);
});

it('keeps what lies below a path that a folder takes', () => {
  const changes = changesOf([entry('file', '/a/b'), entry('folder', '/a')]);
  expect(pathsOf(changes.saved)).toEqual(['/a/b', '/a']);
});

it('reports what was deleted and made again as both', () => {
  const changes = changesOf([entry('file', '/a/b'), entry('deleted', '/a'), entry('file', '/a/c')]);
  expect([...changes.removed]).toEqual(['/a']);
  expect(pathsOf(changes.saved)).toEqual(['/a/c']);
});
