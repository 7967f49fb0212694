import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { clientOperations, operationsFile, pages } from '#bin/generate/generate.ts';
import { topicValues, valuesFile } from '#bin/generate/topic-values.ts';
import { topics } from '#streams/topics.ts';
import { rowsOfFunctions, sectionsOfRows } from '#test/support/judges/contract/rows.ts';

const root = new URL('..', import.meta.url).pathname;
const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(root, file)));
const textOf = (file: string) => readFileSync(join(root, file), 'utf8');
const code = tracked.filter((file) =>
  /^(src|streams|test|examples|bin)\/.*\.(tsx?|js)$/.test(file),
);

const permissiveLicenses = new Set([
  ...['0BSD', 'Apache-2.0', 'BlueOak-1.0.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT', 'MIT-0'],
  ...['PSF-2.0', 'Python-2.0', 'Unlicense'],
]);
/** Only tools that are not part of what is published: changes to their own files would have to be published. */
const developmentLicense = 'MPL-2.0';
const otherLicenses: Readonly<Record<string, string>> = {
  // Its manifest names none; its file LICENSE is that of MIT.
  '@kafkajs/confluent-schema-registry': 'none named',
};

describe('the house rules', () => {
  it('no test is switched off or alone', () => {
    const marks = /\b(it|test|describe)\.(skip|only|todo)\b/;
    expect(code.filter((file) => file !== 'test/tidy.test.ts' && marks.test(textOf(file)))).toEqual(
      [],
    );
  });

  it('nothing is left over', () => {
    const marks = new RegExp(
      `\\b(${['TO' + 'DO', 'FIX' + 'ME', 'X' + 'XX', 'HA' + 'CK'].join('|')})\\b`,
    );
    expect(code.filter((file) => marks.test(textOf(file)))).toEqual([]);
  });

  it('no path of a machine stands anywhere', () => {
    const paths = new RegExp(`(?<![.\\w])/(${['wo' + 'rk', 'ro' + 'ot', 'ho' + 'me'].join('|')})/`);
    const files = tracked.filter((file) => !file.endsWith('package-lock.json'));
    expect(files.filter((file) => paths.test(textOf(file)))).toEqual([]);
  });

  it('each test that a promise names is there', () => {
    const named = textOf('docs/tested-promises.md').match(/`test\/[^`]+\.ts`/g) ?? [];
    const missing = named
      .map((name) => name.slice(1, -1))
      .filter((file) => !tracked.includes(file));
    expect(named.length).toBeGreaterThan(0);
    expect(missing).toEqual([]);
  });

  it('the rounds of random tests are described with the numbers of their code', () => {
    const rows = textOf('docs/tested-promises.md').matchAll(
      /^\| `(test\/[^`]+)` +\| (.+) \| (.+) \|$/gm,
    );
    const wrong = [...rows].flatMap(([, file = '', push = '', all = '']) => {
      const rounds = /roundsOf\(\{ push: ([\d_]+), all: ([\d_]+) \}\)/.exec(textOf(file));
      if (rounds === null) return [];
      const [inPush = '', inAll = ''] = rounds.slice(1).map((count) => count.replaceAll('_', ''));
      const says = (text: string, count: string): boolean =>
        new RegExp(`\\b${count}\\b`).test(text.replaceAll(/(?<=\d) (?=\d)/g, ''));
      return says(push, inPush) && says(all, inAll) ? [] : [`${file}: ${inPush}, ${inAll}`];
    });
    expect(wrong).toEqual([]);
  });

  it('the lockfile names no registry', () => {
    expect(textOf('package-lock.json')).not.toContain('"resolved"');
  });

  it('each installed package has a permissive license', () => {
    const { packages } = JSON.parse(textOf('package-lock.json')) as {
      packages: Record<string, { readonly license?: string; readonly dev?: boolean }>;
    };
    const refused = Object.entries(packages).flatMap(([path, { license = 'none named', dev }]) => {
      const name = path.split('node_modules/').at(-1) ?? '';
      const isAllowed =
        permissiveLicenses.has(license) ||
        otherLicenses[name] === license ||
        (dev === true && license === developmentLicense);
      return isAllowed ? [] : [`${name}: ${license}. Choose another package.`];
    });
    expect(refused).toEqual([]);
    const unused = Object.keys(otherLicenses).filter(
      (name) => !(`node_modules/${name}` in packages),
    );
    expect(unused).toEqual([]);
  });

  it('each row of functions has a test of its name, and a heading in the reference', () => {
    const places = tracked.filter((file) =>
      /^test\/(?!support\/contract\/rows\.ts).*\.ts$/.test(file),
    );
    const titles = places.flatMap((file) => [...textOf(file).matchAll(/^.*['"`][^'"`]*§.*$/gm)]);
    const named = titles.map(([line]) => line).filter((line) => !/^\s*(\/\/|\/?\*)/.test(line));
    const missing = rowsOfFunctions.filter((row) => !named.some((line) => line.includes(row)));
    expect(missing).toEqual([]);
    expect(new Set(rowsOfFunctions).size).toBe(rowsOfFunctions.length);
    const page = textOf('docs/reference/functions.md');
    const unnamed = rowsOfFunctions.filter((row) => {
      const [number = ''] = row.split(' ');
      const heading = sectionsOfRows[number] ?? sectionsOfRows[number.split('.')[0] ?? ''];
      return heading === undefined || !new RegExp(`^#+ ${heading}$`, 'm').test(page);
    });
    expect(unnamed).toEqual([]);
  });

  it('each room of the source says on one page what it is', () => {
    const foldersIn = (parent: string) =>
      readdirSync(join(root, parent))
        .map((name) => `${parent}/${name}`)
        .filter((folder) => statSync(join(root, folder)).isDirectory());
    const wings = foldersIn('src/modules');
    const nouns = wings
      .filter((wing) => !existsSync(join(root, wing, 'routes.ts')))
      .flatMap(foldersIn);
    expect(nouns.length).toBeGreaterThan(wings.length);
    const rooms = foldersIn('src').filter((folder) => !/^src\/(modules|adapters)$/.test(folder));
    const owner = 'src/modules/records/owner';
    const parts = [owner, ...foldersIn(owner), 'src/modules/records/projection'];
    const engines = ['streams', ...foldersIn('streams')];
    expect(
      [...rooms, ...foldersIn('src/adapters'), ...engines, ...wings, ...nouns, ...parts].filter(
        (folder) => !existsSync(join(root, folder, 'README.md')),
      ),
    ).toEqual([]);
  });

  it('each topic has its schema, and each schema its topic', () => {
    const named = Object.values(topics).map(({ schema }) => `schemas/${schema}`);
    const files = tracked.filter((file) => /^schemas\/(?!released\/).*\.avsc$/.test(file));
    expect(files.sort()).toEqual(named.sort());
  });

  it.each(Object.values(topics).map(({ schema }) => schema))('%s documents each field', (file) => {
    const schema = JSON.parse(textOf(`schemas/${file}`)) as {
      doc?: string;
      fields: { name: string; doc?: string }[];
    };
    expect(schema.doc).toBeTruthy();
    expect(schema.fields.filter(({ doc }) => !doc).map(({ name }) => name)).toEqual([]);
  });

  it.each(Object.entries(pages()))('docs/%s is fresh: npm run generate', (file, text) => {
    expect(textOf(`docs/${file}`)).toBe(text);
  });

  it('streams/values.ts is fresh: npm run generate', () => {
    expect(readFileSync(valuesFile, 'utf8')).toBe(topicValues());
  });

  it('src/client/operations.ts is fresh: npm run generate', async () => {
    expect(readFileSync(operationsFile, 'utf8')).toBe(await clientOperations());
  });
});
