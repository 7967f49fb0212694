import { counted } from '#kernel/counted.ts';
import { templateProviders, templatesOf, type Template } from '#rules/templates.ts';
import { columns, showRows } from '../columns.ts';
import { defineCommand, type Options, type ValuesOf } from '../command.ts';
import { mayPrompt, type Context } from '../context.ts';
import { CommandFailure, usageError } from '../exit.ts';
import { readRunningFakes } from '../fakes/running-fakes.ts';
import { answerTo } from '../integration-dialog.ts';
import { functionPath, integrationKeyPattern } from '../project-layout.ts';
import { requireProject } from '../project.ts';
import { addedTemplates, copyTemplate, projectPath, textAt } from '../templates/copy.ts';
import { lineDifference } from '../templates/line-difference.ts';

const options = {
  list: ['--list', 'list the templates, or those of a provider'],
  update: ['--update', 'show how the templates differ from those of this version'],
  integration: ['-i, --integration <key>', 'key of the integration (the name of the provider)'],
  json: ['--json', 'of --list and --update: JSON'],
} as const satisfies Options;
type Values = ValuesOf<typeof options>;

export const add = defineCommand({
  name: 'add',
  usage: '[template]',
  summary: 'Add a function of the box: a tested sync or action of a provider',
  about: `Copies the function with its test, its fixtures and what it imports, names it in index.ts, and its integration
in package.json. A file that exists is never changed. In a terminal, svc add alone searches the templates.`,
  options,
  help: `Examples
  svc add jira/projects
  svc add github/issues --integration github-eu
  svc add --list github
  svc add --update hubspot/contacts`,

  async run({ positionals, values }, context) {
    const [named] = positionals;
    if (values.list === true) {
      await list(context, values, named);
      return;
    }
    requireProject(context.root);
    if (values.update === true) {
      showUpdates(context, values, named);
      return;
    }
    const template = named === undefined ? await choose(context, values) : templateNamed(named);
    addTemplate(context, values, template);
  },
});

async function list(context: Context, values: Values, provider: string | undefined): Promise<void> {
  const providers = provider === undefined ? templateProviders() : [providerNamed(provider)];
  const rows = providers.flatMap((one) => templatesOf(one));
  const heads = ['template', 'kind', 'version', 'description'];
  const shown = rows.map(({ files: _files, file: _file, ...facts }) => facts);
  await showRows(context, values.json, shown, heads, (one) => [
    `${one.provider}/${one.name}`,
    one.kind,
    one.version,
    one.description,
  ]);
}

function providerNamed(name: string): string {
  const providers = templateProviders();
  if (providers.includes(name)) return name;
  const words = providers.filter((one) => one.includes(name) || name.includes(one));
  const near = words.length === 0 ? '' : ` Did you mean ${words.join(', ')}?`;
  throw new CommandFailure(`No template of "${name}".${near} List them: svc add --list`);
}

/** `<provider>/<name>`, or with the folder of its kind between where two kinds have the name. */
function templateNamed(named: string): Template {
  const path = named.replace(/\.ts$/, '');
  const [provider = '', ...rest] = path.split('/');
  if (rest.length === 0 || rest.length > 2) {
    throw usageError(`Name a template as <provider>/<function>: svc add --list ${provider}`);
  }
  const templates = templatesOf(providerNamed(provider));
  const found = templates.filter(
    (one) => one.file === `${path}.ts` || (rest.length === 1 && one.name === rest[0]),
  );
  const [first, second] = found;
  if (second !== undefined) {
    const files = found.map(({ file }) => file.replace(/\.ts$/, ''));
    throw new CommandFailure(`Several kinds have this name: ${files.join(', ')}`);
  }
  if (first !== undefined) return first;
  const names = templates.map(({ name }) => `${provider}/${name}`).join(', ');
  throw new CommandFailure(`There is no template "${named}". Of ${provider} there are ${names}`);
}

/** Matches of a search that are shown. */
const shownMax = 15;

/** The template that the user searches and chooses. */
async function choose(context: Context, values: Values): Promise<Template> {
  const { output } = context;
  if (!mayPrompt(context, values.interactive)) {
    throw usageError('Name a template: svc add <provider>/<function>; svc add --list lists them');
  }
  const all = templateProviders().flatMap((one) => templatesOf(one));
  for (;;) {
    const search = await answerTo(context, 'Template (provider, function, or a word of it): ');
    const words = search.toLowerCase().split(/\s+/);
    const found = all.filter(({ provider, name, description }) =>
      words.every((word) => `${provider}/${name} ${description}`.toLowerCase().includes(word)),
    );
    if (found.length === 0) {
      output.note(`No template matches "${search}".`);
      continue;
    }
    const rows = found
      .slice(0, shownMax)
      .map(({ provider, name, kind, description }, at) => [
        at + 1,
        `${provider}/${name}`,
        kind,
        description,
      ]);
    for (const line of await columns(['', 'template', 'kind', 'description'], rows, 4))
      output.note(line);
    if (found.length > shownMax) output.note(`… and ${found.length - shownMax} more`);
    const answer = await context.prompt('Number (Enter: search once more): ');
    const chosen = /^\d+$/.test(answer) ? found[Number(answer) - 1] : undefined;
    if (chosen !== undefined) return chosen;
  }
}

function addTemplate({ root, output }: Context, values: Values, template: Template): void {
  const { provider, kind, name, scopes } = template;
  const key = values.integration ?? provider;
  if (!integrationKeyPattern.test(key) || /^\.{1,2}$/.test(key)) {
    throw usageError(`"${key}" cannot be the key of an integration`);
  }
  const { written, same, different } = copyTemplate(root, template, key);
  for (const file of written) output.note(`  ${file}`);
  for (const file of different) {
    output.note(output.paint('yellow', `  ${file} exists and differs: it is not changed`));
  }
  if (same.length > 0) output.note(`  ${counted(same.length, 'file')} there already`);
  const path = functionPath(key, kind, name);
  output.result(`Added ${path}.ts (${counted(written.length, 'file')})`);
  if (different.length > 0) output.note(`Compare them: svc add --update ${provider}/${name}`);
  if (scopes.length > 0) output.note(`Scopes: ${scopes.join(', ')}`);
  if (template.needsMetadata)
    output.note(`Connections need metadata: see "metadata" in ${path}.ts`);
  output.note(nextSteps(root, template, key));
}

/** What somebody does with a function that was added, in this order. */
function nextSteps(root: string, { kind, provider }: Template, key: string): string {
  const plays =
    kind === 'sync' ? 'first sync, changes, deletions, limits and a kill' : 'its cases and limits';
  const isTaken = readRunningFakes(root) !== null;
  const here: [string, string][] = [
    isTaken
      ? ['npx svc runs list', 'shows its first run: svc dev --fakes, which runs here, deploys it']
      : ['npx svc dev --fakes', `runs it on a fake of ${provider}, without an account`],
    ['npx svc test', `plays ${plays} on the fake`],
    ['npx svc add', 'adds another one'],
  ];
  const real: [string, string][] = [
    [
      `npx svc integrations create ${provider}`,
      'registers your app at the provider, if it needs one',
    ],
    ['npx svc deploy', `deploys it, and creates the integration ${key} if it is missing`],
  ];
  const width = Math.max(...[...here, ...real].map(([command]) => command.length));
  const shown = (lines: readonly [string, string][]) =>
    lines.map(([command, text]) => `  ${command.padEnd(width)}   ${text}`).join('\n');
  return `Next:\n${shown(here)}\nWith an account of ${provider}:\n${shown(real)}`;
}

interface FileDifference {
  readonly file: string;
  /** Whether the project's file is as it was copied. */
  readonly isOwnChange: boolean;
  readonly lines: readonly string[];
}

interface TemplateDifference {
  readonly template: string;
  readonly version: string;
  readonly newest: string;
  readonly files: readonly FileDifference[];
}

/** Of each template of the project, or of the named one. Writes nothing. */
function showUpdates({ root, output }: Context, values: Values, named: string | undefined): void {
  const wanted = named === undefined ? null : templateNamed(named);
  const differences = addedTemplates(root).flatMap((added): TemplateDifference[] => {
    const template = templatesOf(added.provider).find(
      ({ kind, name }) => functionPath(added.integrationKey, kind, name) === added.path,
    );
    if (template === undefined || (wanted !== null && wanted.file !== template.file)) return [];
    const files = template.files.flatMap(({ path, text, sha256: newest }): FileDifference[] => {
      const file = projectPath(template, added.integrationKey, path);
      const lines = lineDifference(textAt(root, file) ?? '', text);
      if (lines.length === 0) return [];
      return [{ file, isOwnChange: added.files[path] === newest, lines }];
    });
    return [{ template: added.path, version: added.version, newest: template.version, files }];
  });
  if (values.json === true) {
    output.result(JSON.stringify(differences));
    return;
  }
  if (differences.length === 0) output.result('The project has no template of this name.');
  for (const { template, version, newest, files } of differences) {
    const versions = version === newest ? version : `${version} → ${newest}`;
    const verdict = files.length === 0 ? 'as in this version' : counted(files.length, 'file');
    output.result(`${template} ${versions}: ${verdict}`);
    for (const { file, isOwnChange, lines } of files) {
      output.result(`\n${file}${isOwnChange ? '  (changed here alone)' : ''}`);
      for (const line of lines) output.result(`  ${line}`);
    }
  }
}
