import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { isPublicTopic, topics, typedTopicCleanup } from '../../streams/topics.ts';
import { openapiDocument } from '../http/openapi/document.ts';
import { clientTypes } from '../http/openapi/typescript.ts';
import { routes, streamRoutes } from '../api/routes.ts';
import { catalogue, type ErrorCode } from '../kernel/errors.ts';
import { errorHints } from '../kernel/error-hints.ts';
import { asyncapiDocument } from '../modules/operations/topics/asyncapi.ts';
import type { Cleanup } from '../ports/event-log.ts';
import { cliPage } from './cli-page.ts';
import { loadConfig } from './config.ts';
import { configurationPage } from './configuration-page.ts';
import { providerWebhooksPage } from './provider-webhooks-page.ts';
import { version } from './version.ts';

/**
 * Pages of `docs/generated/`, made of the tables that the code itself uses. `npm run generate` writes them; a
 * test fails when they differ from what the code says.
 */

const hint = 'Made by `npm run generate`; do not edit.';
const dayMs = 86_400_000;

/** What a cell may hold without ending it. */
const cell = (text: string): string =>
  text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ');

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function errorsPage(): string {
  const rows = Object.entries(catalogue).map(([code, kind]) => [
    `\`${code}\``,
    String(kind.status),
    'isRetryable' in kind ? 'yes' : '',
    kind.message,
    errorHints[code as ErrorCode],
  ]);
  return `# Errors

The codes of \`error.code\`. The message is what is said when there is nothing more exact; what to do about it is
\`error.fix\`. A few endpoints answer a code with another status, where the contract asks for it. ${hint}

${table(['Code', 'Status', 'Retry may help', 'Message', 'What to do'], rows)}
`;
}

interface Schema {
  readonly doc: string;
  readonly fields: readonly {
    readonly name: string;
    readonly type: unknown;
    readonly doc: string;
  }[];
}

const partitionsText: Readonly<Record<string, string>> = {
  owned: '`SVC_PARTITIONS`',
  quarter: '`SVC_PARTITIONS` / 4',
};

function topicsPage(): string {
  const all = Object.entries(topics);
  const rows = all.map(([name, { key, partitions, cleanup, schema, why }]) => {
    const count = partitionsText[partitions] ?? String(partitions);
    const file = `[${schema}](../../schemas/${schema})`;
    return [`\`${name}\``, key, count, cleanupText(cleanup), file, why];
  });
  const open = all.filter(([name]) => isPublicTopic(name));
  const values = open.map(([name, { schema }]) => {
    const file = new URL(`../../schemas/${schema}`, import.meta.url);
    const { doc, fields } = JSON.parse(readFileSync(file, 'utf8')) as Schema;
    const lines = fields.map((field) => [`\`${field.name}\``, typeText(field.type), field.doc]);
    return `### \`${name}\`\n\n${doc}\n\n${table(['Field', 'Type', 'Meaning'], lines)}`;
  });
  const head = ['Topic', 'Key', 'Partitions', 'Cleanup', 'Schema', 'What for'];
  return `# Topics

Topics under \`svc.internal.\` are private: they change without notice. ${hint}

${table(head, rows)}

A model that is opted in has a topic of its own beside them,
\`svc.cdc.<environment>.<integration>.<model>.v<major>\`, deleted after ${durationText(typedTopicCleanup.retentionMs)}
([what is written](../../src/modules/operations/typed-topics/README.md)).

## Values of the public topics

A \`?\` means that the field may be null.

${values.join('\n\n')}
`;
}

function cleanupText(cleanup: Cleanup): string {
  switch (cleanup.policy) {
    case 'none':
      return 'deleted once decided and a day old';
    case 'delete':
      return `deleted after ${durationText(cleanup.retentionMs)}`;
    case 'compact': {
      const { minLagMs, maxLagMs } = cleanup;
      const lag = minLagMs === 0 ? '' : `after ${durationText(minLagMs)}, `;
      return `compacted ${lag}at the latest after ${durationText(maxLagMs)}`;
    }
  }
}

const durationText = (ms: number): string =>
  ms % dayMs === 0 ? `${ms / dayMs} d` : `${ms / 3_600_000} h`;

/** An Avro type in a few words. */
function typeText(type: unknown): string {
  if (typeof type === 'string') return type;
  if (Array.isArray(type)) {
    const branches = type.filter((branch) => branch !== 'null').map(typeText);
    return `${branches.join(' or ')}${branches.length < type.length ? '?' : ''}`;
  }
  const schema = type as Readonly<Record<string, unknown>>;
  switch (schema['type']) {
    case 'array':
      return `list of ${typeText(schema['items'])}`;
    case 'map':
      return `map of ${typeText(schema['values'])}`;
    case 'record': {
      const fields = schema['fields'] as Schema['fields'];
      return `{${fields.map(({ name, type: inner }) => `${name} ${typeText(inner)}`).join(', ')}}`;
    }
    default:
      return String(schema['logicalType'] ?? schema['type']);
  }
}

/** Of the defaults: an installation serves its own at GET /asyncapi.json. */
function asyncapiPage(): string {
  const { partitions: ownedPartitions, topicPrefix: prefix } = loadConfig({});
  const document = asyncapiDocument({ version: version(), ownedPartitions, prefix });
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** Every generated page, by its file in the folder. */
export const pages = (): Readonly<Record<string, string>> => ({
  'asyncapi.json': asyncapiPage(),
  'cli.md': cliPage(hint),
  'configuration.md': configurationPage(table, hint),
  'errors.md': errorsPage(),
  'provider-webhooks.md': providerWebhooksPage(table, hint),
  'topics.md': topicsPage(),
});

/** The types of the client (`src/client/operations.ts`). */
export async function clientOperations(): Promise<string> {
  const endpoints = { routes, streamRoutes };
  return clientTypes(await openapiDocument(endpoints, { version: version(), publicUrl: '' }));
}

export const operationsFile = new URL('../client/operations.ts', import.meta.url);
export const pagesFolder = new URL('../../docs/generated/', import.meta.url);

if (import.meta.main) {
  mkdirSync(pagesFolder, { recursive: true });
  for (const [file, text] of Object.entries(pages()))
    writeFileSync(new URL(file, pagesFolder), text);
  writeFileSync(operationsFile, await clientOperations());
}
