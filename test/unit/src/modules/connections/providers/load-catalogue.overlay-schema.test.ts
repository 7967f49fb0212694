import { readdirSync, readFileSync } from 'node:fs';
import { load as parseYaml } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { overlaySchemaFile, overlaySchemaPage } from '#bin/generate/generate.ts';
import { isJsonObject, type Json } from '#kernel/stable-json.ts';
import {
  builtInFile,
  loadCatalogue,
  overlayValidator,
} from '#modules/connections/providers/load-catalogue.ts';
import { definitionSchema } from '#modules/connections/providers/schema.ts';
import { draft2020 } from '#test/support/judges/json-schema.ts';

const published = readFileSync(overlaySchemaFile, 'utf8');
const schema = JSON.parse(published) as Json;
const problems = overlayValidator();
const folder = new URL(
  '../../../../../../src/modules/connections/providers/catalogue/',
  import.meta.url,
);
const builtFile = (path: string) => new URL(`../../../../../../dist/src/${path}`, import.meta.url);
const files = readdirSync(folder).map((name) => ({
  name,
  content: parseYaml(readFileSync(new URL(name, folder), 'utf8')) as Record<string, Json>,
}));

describe('the published schema of overlays', () => {
  it('is what `npm run generate` makes', () => {
    expect(published).toBe(overlaySchemaPage());
  });

  it('is a JSON Schema, all of whose properties have a description for editors', () => {
    expect(draft2020().validateSchema(schema as object)).toBe(true);
    const properties = propertiesOf(schema, '');
    expect(properties.length).toBeGreaterThan(150);
    const bare = properties.filter(({ property }) => !/\w.*\.$/.test(descriptionOf(property)));
    expect(bare.map(({ path }) => path)).toEqual([]);
  });

  it.each(files)('takes the built-in $name', ({ content }) => {
    expect(problems(content)).toEqual([]);
  });

  it('has the built-in definitions in the build, parsed: parsing them again changes nothing', () => {
    const file = builtFile(`modules/connections/providers/${builtInFile}`);
    const built = JSON.parse(readFileSync(file, 'utf8')) as Record<string, Json>;
    const sources = loadCatalogue({ overlayPath: null }).all();
    expect(Object.entries(built).map(([name, one]) => ({ name, ...(one as object) }))).toEqual(
      sources,
    );
    for (const [name, one] of Object.entries(built)) {
      expect([name, definitionSchema.parse(one)]).toEqual([name, one]);
    }
  });

  it('refuses what the parser of definitions refuses', () => {
    const wrong: readonly Json[] = [3, 1.5, '', 'x', true, null, [], [3], {}, { x: 3 }, { x: [] }];
    const seen = new Set<string>();
    const differing: string[] = [];
    for (const definition of files.flatMap(({ content }) => Object.values(content))) {
      if (!isJsonObject(definition) || 'alias' in definition) continue;
      for (const path of pathsOf(definition)) {
        const kind = path.map((step) => (typeof step === 'number' ? '#' : step)).join('.');
        if (seen.has(kind)) continue;
        seen.add(kind);
        for (const value of wrong) {
          const changed = withValue(definition, path, value);
          const isParsed = definitionSchema.safeParse(changed).success;
          const isValid = problems({ changed }).length === 0;
          if (isParsed !== isValid) differing.push(`${kind}: ${JSON.stringify(value)}`);
        }
      }
    }
    expect(seen.size).toBeGreaterThan(150);
    expect(differing).toEqual([]);
  });
});

interface Property {
  readonly path: string;
  readonly property: Json;
}

function propertiesOf(part: Json, path: string): Property[] {
  if (Array.isArray(part)) return part.flatMap((item: Json) => propertiesOf(item, path));
  if (!isJsonObject(part)) return [];
  return Object.entries(part).flatMap(([keyword, value]) => {
    const at = `${path}/${keyword}`;
    const own =
      keyword === 'properties' && isJsonObject(value)
        ? Object.entries(value).map(([name, property]) => ({ path: `${at}/${name}`, property }))
        : [];
    return [...own, ...propertiesOf(value, at)];
  });
}

const descriptionOf = (property: Json): string =>
  isJsonObject(property) && typeof property['description'] === 'string'
    ? property['description']
    : '';

type Path = readonly (string | number)[];

function pathsOf(value: Json): Path[] {
  const steps = Array.isArray(value) ? [...value.keys()] : Object.keys(asMap(value));
  return steps.flatMap((step) => {
    const inner = (value as Record<string | number, Json>)[step] as Json;
    return [[step], ...pathsOf(inner).map((path) => [step, ...path])];
  });
}

const asMap = (value: Json): Record<string, Json> => (isJsonObject(value) ? value : {});

function withValue(value: Json, path: Path, replacement: Json): Json {
  const result = structuredClone(value);
  let parent = result as Record<string | number, Json>;
  for (const step of path.slice(0, -1)) parent = parent[step] as Record<string | number, Json>;
  parent[path.at(-1)!] = replacement;
  return result;
}
