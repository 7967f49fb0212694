import { readFileSync } from 'node:fs';
import { topics } from '#streams/topics.ts';

/** `streams/values.ts`: the types of the values of every topic, from their Avro schemas. */

export const valuesFile = new URL('../../streams/values.ts', import.meta.url);

interface Field {
  readonly name: string;
  readonly type: unknown;
  readonly doc?: string;
}
interface Schema extends Field {
  readonly fields?: readonly Field[];
  readonly items?: unknown;
  readonly values?: unknown;
  readonly logicalType?: string;
}

const head = `/**
 * The values of the topics, made of their Avro schemas in \`schemas\` by \`npm run generate\`; do not edit. Open sets are
 * strings.
 */
import type { PublicFields } from '#kernel/public-fields.ts';
import type { Instant, Micros } from '#kernel/time.ts';
`;

const common = new Set(
  'event_id type occurred_at environment_id integration connection_id actor run_id'.split(' '),
);

export function topicValues(): string {
  const values = Object.entries(topics).map(([topic, { schema }]) => {
    const file = new URL(`../../schemas/${schema}`, import.meta.url);
    return { topic, value: JSON.parse(readFileSync(file, 'utf8')) as Schema };
  });
  const records = values.flatMap(({ value }) => recordsIn(value));
  const texts = values
    .filter(({ value }) => isPublic(value))
    .map(({ topic, value }) => `  '${topic}': Omit<${value.name}, keyof PublicFields>;\n`);
  return `${head}\n${records.map(interfaceOf).join('\n')}\n${publishedHead} {\n${texts.join('')}}\n`;
}

const publishedHead = `/** The values of the public topics, without the fields that all of them have. */
export interface PublishedValues`;

const isPublic = ({ fields = [] }: Schema): boolean =>
  fields.filter(({ name }) => common.has(name)).length === common.size;

/** The records within the type, and the type itself where it is one. */
function recordsIn(type: unknown): Schema[] {
  if (Array.isArray(type)) return type.flatMap(recordsIn);
  if (typeof type !== 'object' || type === null) return [];
  const { fields, items, values } = type as Schema;
  if (fields === undefined) return recordsIn(items ?? values);
  return [...fields.flatMap((field) => recordsIn(field.type)), type as Schema];
}

function interfaceOf(schema: Schema): string {
  const { name, doc, fields = [] } = schema;
  const lines = fields
    .filter((field) => !isPublic(schema) || !common.has(field.name))
    .map((field) => `  ${comment(field.doc)}readonly ${field.name}: ${typeOf(field.type)};\n`);
  const parent = isPublic(schema) ? ' extends PublicFields' : '';
  return `${comment(doc).trimEnd()}\nexport interface ${name}${parent} {\n${lines.join('')}}\n`;
}

const comment = (doc: string | undefined): string => (doc === undefined ? '' : `/** ${doc} */ `);

const typeNames: Readonly<Record<string, string>> = {
  bytes: 'Uint8Array',
  int: 'number',
  long: 'number',
  'timestamp-micros': 'Micros',
  'timestamp-millis': 'Instant',
};

function typeOf(type: unknown): string {
  if (Array.isArray(type)) {
    const branches = type.filter((branch) => branch !== 'null').map(typeOf);
    return [...branches, ...(type.includes('null') ? ['null'] : [])].join(' | ');
  }
  if (typeof type === 'string') return typeNames[type] ?? type;
  const schema = type as Schema;
  if (schema.type === 'array') return `readonly ${typeOf(schema.items)}[]`;
  if (schema.type === 'map') return `Readonly<Record<string, ${typeOf(schema.values)}>>`;
  return schema.type === 'record' ? schema.name : typeOf(schema.logicalType ?? schema.type);
}
