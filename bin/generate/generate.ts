import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { endpoints } from '#api/routes.ts';
import { loadConfig } from '#app/config/config.ts';
import { release, version } from '#app/config/version.ts';
import { commands } from '#cli/command-list.ts';
import { outputTo } from '#cli/output.ts';
import { ownPackage } from '#cli/package.ts';
import { openProgram } from '#cli/program.ts';
import { openapiDocument } from '#http/openapi/document.ts';
import { clientTypes } from '#http/openapi/typescript.ts';
import { overlaySchema } from '#modules/connections/providers/load-catalogue.ts';
import { addedTopics } from '#modules/extensions/registered.ts';
import { asyncapiDocument } from '#modules/operations/topics/asyncapi.ts';
import { metricDefinitions } from '#ports/metrics.ts';
import { configurationPage } from './configuration-page.ts';
import { code, table, withBlocks } from './markdown.ts';
import { movingHerePage } from './moving-here-page.ts';
import { providerLimitsPage } from './provider-limits-page.ts';
import { providerWebhooksPage } from './provider-webhooks-page.ts';
import { referenceBlocks } from './reference-blocks.ts';
import { topicValues, valuesFile } from './topic-values.ts';

/**
 * The pages of `docs/generated/` and the tables of `docs/reference/`, generated from the tables that the code uses.
 * `npm run generate` writes them; a test fails when they differ.
 */

const hint = 'Made by `npm run generate`; do not edit.';

const docsFolder = new URL('../../docs/', import.meta.url);

/** With default settings: an installation serves its own at GET /asyncapi.json. */
function asyncapiPage(): string {
  const { partitions: ownedPartitions, topicPrefix: prefix } = loadConfig({});
  const document = asyncapiDocument({ ...release(), ownedPartitions, prefix }, addedTopics);
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** The current page with its blocks regenerated. */
function referencePage(file: string, blocks: Readonly<Record<string, string>>): string {
  const page = readFileSync(new URL(`reference/${file}`, docsFolder), 'utf8');
  try {
    return withBlocks(page, blocks);
  } catch (cause) {
    throw new Error(`docs/reference/${file}: ${(cause as Error).message}`, { cause });
  }
}

/** Every page with generated content, by its file in `docs`. */
export const pages = (): Readonly<Record<string, string>> => ({
  'generated/asyncapi.json': asyncapiPage(),
  'generated/cli.md': cliPage(hint),
  'generated/configuration.md': configurationPage(table, hint),
  'generated/metrics.md': metricsPage(),
  'generated/moving-here.md': movingHerePage(hint),
  'generated/provider-limits.md': providerLimitsPage(table, hint),
  'generated/provider-webhooks.md': providerWebhooksPage(table, hint),
  ...Object.fromEntries(
    Object.entries(referenceBlocks()).map(([file, blocks]) => [
      `reference/${file}`,
      referencePage(file, blocks),
    ]),
  ),
});

/** JSON Schema of an overlay (`SVC_PROVIDERS`), for editors. */
export const overlaySchemaPage = (): string => `${JSON.stringify(overlaySchema(), null, 2)}\n`;

export const overlaySchemaFile = new URL('../../schemas/provider.schema.json', import.meta.url);

/** The types of the client (`src/client/operations.ts`). */
export async function clientOperations(): Promise<string> {
  return clientTypes(await openapiDocument(endpoints, { version: version(), publicUrl: '' }));
}

export const operationsFile = new URL('../../src/client/operations.ts', import.meta.url);

/** `docs/generated/cli.md`: the help of the command line, which each command declares. */
function cliPage(hint: string): string {
  const sections = ['', ...commands.map(({ name }) => name)].map((name) => {
    let text = '';
    const print = { write: (written: string) => (text += written) };
    const parts = { output: outputTo(print, print), own: ownPackage() };
    const program = openProgram(parts, async () => undefined);
    const command = program.commands.find((one) => one.name() === name);
    (command ?? program).outputHelp();
    const heading = command === undefined ? '' : `## svc ${name}\n\n`;
    return `${heading}${fenced(text.trimEnd())}`;
  });
  return `# Commands

The help of every command, as \`svc help\` prints it. Variables, exit codes and files are described in the
[reference](../reference/cli.md). ${hint}

${sections.join('\n\n')}
`;
}

function metricsPage(): string {
  const rows = Object.entries(metricDefinitions).map(([name, { kind, help, labels }]) => [
    code(name),
    kind,
    labels.map(code).join(', '),
    help,
  ]);
  return `# Metrics

\`GET /metrics\` and the dashboard are described in [monitoring](../../deploy/monitoring/README.md). ${hint}

<!-- prettier-ignore-start -->

${table(['Metric', 'Kind', 'Labels', 'Meaning'], rows)}

<!-- prettier-ignore-end -->
`;
}

const fenced = (text: string): string => `\`\`\`text\n${text}\n\`\`\``;

if (import.meta.main) {
  mkdirSync(new URL('generated/', docsFolder), { recursive: true });
  for (const [file, text] of Object.entries(pages())) {
    writeFileSync(new URL(file, docsFolder), text);
  }
  writeFileSync(overlaySchemaFile, overlaySchemaPage());
  writeFileSync(valuesFile, topicValues());
  writeFileSync(operationsFile, await clientOperations());
}
