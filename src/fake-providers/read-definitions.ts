import { readFileSync } from 'node:fs';
import { load as parseYaml } from 'js-yaml';
import type { Provider } from '#modules/connections/providers/definition.ts';

/**
 * Definitions as they are written, an alias with the fields of its target: what the gateway makes of them is not asked.
 * @param files YAML or JSON, of which a later one may name entries of those before
 */
export function readDefinitions(files: readonly string[]): Map<string, Provider> {
  const definitions = new Map<string, Provider>();
  for (const file of files) {
    const content = parseYaml(readFileSync(file, 'utf8')) as Readonly<Record<string, object>>;
    for (const [name, written] of Object.entries(content)) {
      if (name === '$schema') continue;
      const { alias, ...own } = written as { readonly alias?: string };
      const target = alias === undefined ? {} : definitions.get(alias);
      definitions.set(name, { ...target, ...own, name } as Provider);
    }
  }
  return definitions;
}
