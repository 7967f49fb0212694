import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { authModes } from '../../../src/modules/connections/providers/definition.ts';
import { definitionSchema } from '../../../src/modules/connections/providers/schema.ts';
import { exitCodes } from '../../../src/cli/exit.ts';

const root = new URL('../../../', import.meta.url).pathname;
const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');

/** The names that a page has in code spans. */
function namesOn(page: string): Set<string> {
  const prose = textOf(`docs/reference/${page}`).replaceAll(/^```[^]*?^```/gm, '');
  const spans = prose.matchAll(/`([^`]+)`/g);
  return new Set([...spans].flatMap(([, span = '']) => span.match(/[\w-]+/g) ?? []));
}

const missingOn = (page: string, names: readonly string[]): string[] => {
  const present = namesOn(page);
  return names.filter((name) => !present.has(name));
};

/** Every name of a field in a JSON Schema, at any depth. */
function fieldsIn(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(fieldsIn);
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties = {}, ...rest } = schema as { properties?: object };
  return [
    ...Object.entries(properties).flatMap(([name, inner]) => [name, ...fieldsIn(inner)]),
    ...Object.values(rest).flatMap(fieldsIn),
  ];
}

/** Names that an interface of the SDK declares, by the two spaces before them. */
const membersIn = (file: string): string[] =>
  [...textOf(file).matchAll(/^ {2}(?:readonly )?(\w+)[?<(:]/gm)].map(([, name = '']) => name);

describe('the reference names', () => {
  it('every field of a provider definition', () => {
    const fields = fieldsIn(
      z.toJSONSchema(definitionSchema, { io: 'input', unrepresentable: 'any' }),
    );
    expect(fields.length).toBeGreaterThan(150);
    expect(missingOn('provider-format.md', [...new Set(fields)])).toEqual([]);
  });

  it('every authentication mode', () => {
    expect(missingOn('auth-modes.md', authModes)).toEqual([]);
  });

  it('every member of the handle, option of a definition and field of a request', () => {
    const members = ['handle', 'definitions', 'http'].flatMap((name) =>
      membersIn(`src/sdk/${name}.ts`),
    );
    expect(members.length).toBeGreaterThan(80);
    const others = ['type', 'payload', 'path', 'group', 'url', 'body'];
    const named = [...new Set(members)].filter((name) => !others.includes(name));
    expect(missingOn('functions.md', named)).toEqual([]);
  });

  it('every exit code of the command line', () => {
    const codes = [...textOf('docs/reference/cli.md').matchAll(/^\| (\d+) +\|/gm)];
    expect(codes.map(([, code]) => Number(code))).toEqual(Object.values(exitCodes));
  });
});

/** The anchors of a page as GitHub makes them of its headings. */
function anchorsOf(file: string): Set<string> {
  const headings = textOf(file).matchAll(/^#{1,6} (.+)$/gm);
  return new Set(
    [...headings].map(([, title = '']) =>
      title
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

const filesOf = (...patterns: readonly string[]): string[] =>
  execFileSync('git', ['ls-files', '--cached', '--', ...patterns], { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter((file) => file !== '' && existsSync(join(root, file)));

it('each comment that cites the reference names a page and a heading of it', () => {
  const broken = filesOf('src/*.ts', 'streams/*.ts', 'test/*.ts').flatMap((file) =>
    [...textOf(file).matchAll(/\bdocs\/(reference\/[\w-]+\.md)(?:#([\w-]+))?/g)]
      .filter(([, page = '', anchor]) => {
        const target = `docs/${page}`;
        if (!existsSync(join(root, target))) return true;
        return anchor !== undefined && !anchorsOf(target).has(anchor);
      })
      .map(([cited]) => `${file}: ${cited}`),
  );
  expect(broken).toEqual([]);
});

it('each link to a heading leads to one', () => {
  const broken = filesOf('docs/*.md').flatMap((file) =>
    [...textOf(file).matchAll(/\]\((?!https?:)([^)#]*)#([^)]+)\)/g)]
      .map(([, page = '', anchor = '']) => ({
        target: page === '' ? file : join(file, '..', page),
        anchor,
      }))
      .filter(({ target, anchor }) => target.endsWith('.md') && !anchorsOf(target).has(anchor))
      .map(({ target, anchor }) => `${file}: ${target}#${anchor}`),
  );
  expect(broken).toEqual([]);
});
