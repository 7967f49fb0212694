import { GatewayError } from '#kernel/errors.ts';
import { templatesOf, type Template, type TemplateFile } from '#rules/templates.ts';

/** By provider: the box is the same as long as the process runs. */
const read = new Map<string, readonly Template[]>();

/** The templates of a provider of the catalog; read at the first use. */
export function providerTemplates(provider: string): readonly Template[] {
  const templates = read.get(provider) ?? templatesOf(provider);
  read.set(provider, templates);
  return templates;
}

/**
 * No two kinds of a provider share a name (test/unit/src/rules/templates.test.ts).
 * @throws GatewayError `template_not_found`
 */
export function requireTemplate(provider: string, name: string): Template {
  const templates = providerTemplates(provider);
  const found = templates.find((one) => one.name === name);
  if (found !== undefined) return found;
  const names = templates.map((one) => one.name).join(', ');
  throw new GatewayError('template_not_found', {
    message: `The provider "${provider}" has no template "${name}". ${names === '' ? 'It has none.' : `It has ${names}.`}`,
  });
}

/** What a deployment compiles: the file of the function, and what it imports. */
export interface TemplateSource {
  readonly code: string;
  /** By path in a project, in which the folder of the integration is called `integration`. */
  readonly imports: Readonly<Record<string, string>>;
}

export function sourceOfTemplate(template: Template): TemplateSource {
  const { provider, file } = template;
  const files = functionFiles(template);
  const imported = files.filter(({ path }) => path !== file);
  return {
    code: files.find(({ path }) => path === file)?.text ?? '',
    imports: Object.fromEntries(
      imported.map(({ path, text }) => [inProject(provider, path), text] as const),
    ),
  };
}

const inProject = (provider: string, path: string): string =>
  path.startsWith(`${provider}/`) ? `integration${path.slice(provider.length)}` : path;

/** The function and what it imports: fixtures and test play a template, and are no part of it. */
export const functionFiles = ({ provider, files }: Template): readonly TemplateFile[] =>
  files.filter(({ path }) =>
    ['fixtures', 'tests'].every((folder) => !path.startsWith(`${provider}/${folder}/`)),
  );
