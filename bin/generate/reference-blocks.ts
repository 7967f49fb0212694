import { readFileSync } from 'node:fs';
import { routes, streamRoutes } from '#api/routes.ts';
import { preflightHeaders, corsHeaders } from '#http/cors.ts';
import { type AnyRoute, codeOf, statusOf } from '#http/define-route.ts';
import type { StreamRoute } from '#http/stream-route.ts';
import { errorHints } from '#kernel/error-hints.ts';
import { catalogue, type ErrorCode } from '#kernel/errors.ts';
import { headersSchema, type MessageKind } from '#modules/operations/topics/headers.ts';
import { webhookMeanings } from '#modules/webhooks/webhooks-out/events.ts';
import type { Cleanup } from '#ports/event-log.ts';
import { isPublicTopic, topics, typedTopicCleanup } from '#streams/topics.ts';
import { limitsBlocks } from './limits-page.ts';
import { code, durationText, table } from './markdown.ts';
import { providerFormatBlocks } from './provider-format-blocks.ts';

type Blocks = Readonly<Record<string, string>>;

/** The generated tables of docs/reference, by page and name of the block. */
export const referenceBlocks = (): Readonly<Record<string, Blocks>> => ({
  'errors.md': { codes: codesTable(), 'other-statuses': otherStatusesTable() },
  'http.md': { endpoints: endpointsTable(), scopes: scopesTable(), cors: corsTable() },
  'limits.md': limitsBlocks(),
  'webhooks-out.md': { kinds: webhookKindsTable() },
  'provider-format.md': providerFormatBlocks(),
  'topics.md': {
    topics: topicsTable(),
    'typed-retention': typedRetention(),
    headers: headersTable(),
    values: topicValues(),
  },
});

function codesTable(): string {
  const rows = Object.entries(catalogue).map(([name, kind]) => [
    code(name),
    String(kind.status),
    'isRetryable' in kind ? 'yes' : '',
    kind.message,
    errorHints[name as ErrorCode],
  ]);
  return table(['Code', 'Status', 'Retry may help', 'Meaning', 'Fix'], rows);
}

interface Endpoint {
  readonly name: string;
  readonly route: AnyRoute | StreamRoute;
}

const endpoints: readonly Endpoint[] = [
  ...routes.map((route) => ({ name: `${route.method} ${route.path}`, route })),
  ...streamRoutes.map((route) => ({ name: `${route.methods.join(', ')} ${route.path}`, route })),
].sort((a, b) => a.route.path.localeCompare(b.route.path, 'en'));

/** Codes that some endpoints return with another status than the catalog's. */
function otherStatusesTable(): string {
  const found = new Map<string, { readonly code: ErrorCode; status: number; names: string[] }>();
  for (const { name, route } of endpoints) {
    for (const error of route.errors) {
      const [errorCode, status] = [codeOf(error), statusOf(error)];
      if (status === catalogue[errorCode].status) continue;
      const key = `${errorCode} ${status}`;
      const row = found.get(key) ?? { code: errorCode, status, names: [] };
      row.names.push(code(name));
      found.set(key, row);
    }
  }
  const rows = [...found.values()].map((row) => [
    code(row.code),
    String(row.status),
    row.names.join(', '),
  ]);
  return table(['Code', 'Status', 'At'], rows);
}

function endpointsTable(): string {
  const rows = endpoints.map(({ name, route }) => [
    code(name),
    credentialText(route),
    route.scopes.map((scope) => code(scope)).join(' or '),
    Object.keys(route.answers ?? {}).join(', '),
    route.errors.map((error) => errorText(error)).join(', '),
  ]);
  return table(['Endpoint', 'Credential', 'Scope', 'Answers', 'Its own refusals'], rows);
}

function errorText(error: AnyRoute['errors'][number]): string {
  const [errorCode, status] = [codeOf(error), statusOf(error)];
  return catalogue[errorCode].status === status
    ? code(errorCode)
    : `${code(errorCode)} (${status})`;
}

function credentialText(route: AnyRoute | StreamRoute): string {
  const { credential } = route;
  if ('tokenIn' in route) return 'connect, in the query';
  if (credential === 'key') return 'environment or account';
  return 'takesConnectToken' in route ? `${credential} or connect` : credential;
}

function scopesTable(): string {
  const byScope = new Map<string, string[]>();
  for (const { name, route } of endpoints) {
    for (const scope of route.scopes) {
      byScope.set(scope, [...(byScope.get(scope) ?? []), code(name)]);
    }
  }
  const rows = [...byScope]
    .sort(([a], [b]) => a.localeCompare(b, 'en'))
    .map(([scope, names]) => [code(scope), names.join(', ')]);
  return table(['Scope', 'Opens'], rows);
}

function corsTable(): string {
  const { allow: _, ...preflight } = preflightHeaders(['GET', '…']);
  const row = ([name, value]: [string, string], at: string): string[] => [
    code(name),
    code(value),
    at,
  ];
  const rows = [
    ...Object.entries(corsHeaders).map((entry) => row(entry, 'every answer')),
    ...Object.entries(preflight).map((entry) => row(entry, 'answers to `OPTIONS`')),
  ];
  return table(['Header', 'Value', 'On'], rows);
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

function topicsTable(): string {
  const rows = Object.entries(topics).map(([name, { key, partitions, cleanup, schema, why }]) => {
    const count = partitionsText[partitions] ?? String(partitions);
    const file = `[${schema}](../../schemas/${schema})`;
    return [code(name), key, count, cleanupText(cleanup), file, why];
  });
  return table(['Topic', 'Key', 'Partitions', 'Cleanup', 'Schema', 'What for'], rows);
}

const webhookKindsTable = (): string =>
  table(
    ['Kind', 'Reports'],
    Object.entries(webhookMeanings).map(([kind, meaning]) => [code(kind), meaning]),
  );

const typedRetention = (): string =>
  `A message of a typed topic is deleted after ${durationText(typedTopicCleanup.retentionMs)}.`;

const kinds = {
  event: 'value',
  tombstone: 'tombstone',
  record: 'value of records and typed topics',
  'record-tombstone': 'their tombstone',
  heartbeat: 'heartbeat of a typed topic',
} as const satisfies Record<MessageKind, string>;

/** Which header each kind of message carries. */
function headersTable(): string {
  const schemas = Object.keys(kinds).map((kind) => headersSchema(kind as MessageKind));
  const descriptions = Object.assign({}, ...schemas.map(({ properties }) => properties)) as Record<
    string,
    { readonly description: string }
  >;
  const rows = Object.entries(descriptions).map(([name, { description }]) => [
    code(name),
    description,
    ...schemas.map(({ properties, required }) => {
      if (required.includes(name)) return 'yes';
      return Object.hasOwn(properties, name) ? 'at times' : '';
    }),
  ]);
  return table(['Header', 'Holds', ...Object.values(kinds)], rows);
}

function topicValues(): string {
  const open = Object.entries(topics).filter(([name]) => isPublicTopic(name));
  const values = open.map(([name, { schema }]) => {
    const file = new URL(`../../schemas/${schema}`, import.meta.url);
    const { doc, fields } = JSON.parse(readFileSync(file, 'utf8')) as Schema;
    const rows = fields.map((field) => [code(field.name), typeText(field.type), field.doc]);
    return `### ${code(name)}\n\n${doc}\n\n${table(['Field', 'Type', 'Meaning'], rows)}`;
  });
  return values.join('\n\n');
}

function cleanupText(cleanup: Cleanup): string {
  switch (cleanup.policy) {
    case 'none':
      return 'deleted once decided and a day old';
    case 'delete':
      return `deleted after ${durationText(cleanup.retentionMs)}`;
    case 'compact': {
      const { minLagMs, maxLagMs, tombstoneMs } = cleanup;
      const lag = minLagMs === 0 ? '' : `after ${durationText(minLagMs)}, `;
      const latest = `at the latest after ${durationText(maxLagMs)}`;
      return `compacted ${lag}${latest}; tombstones stay ${durationText(tombstoneMs)}`;
    }
  }
}

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
