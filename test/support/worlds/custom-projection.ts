/* oxlint-disable typescript/no-unsafe-assignment -- a test looks into any answer */
import type { Answer, GatewayAccess } from '../processes/gateway.ts';
import { eventually, succeeded } from './crm-world.ts';

/** A projection as the command line would send it: rows with id, name and length of the name. */
export const contactNames = (map: string, key: readonly string[] = []): object => ({
  version: '1.0.0',
  description: 'Names of contacts.',
  models: ['Contact'],
  row: {
    type: 'object',
    properties: {
      id: { type: 'string' },
      name: { type: 'string' },
      connection_id: { type: 'string' },
      length: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
      seen_at: { type: 'string', format: 'date-time' },
      words: { type: 'array', items: { type: 'string' } },
    },
    required: ['id', 'name', 'connection_id', 'length', 'seen_at', 'words'],
  },
  key,
  bundle: bundleOf(map),
  source: '',
});

const bundleOf = (map: string): string => `
const { createProjection } = require('svc');
const { z } = require('zod');
module.exports = createProjection({
  description: 'Names of contacts.',
  from: { models: ['Contact'] },
  row: z.object({
    id: z.string(),
    name: z.string(),
    connection_id: z.string(),
    length: z.int().nullable(),
    seen_at: z.iso.datetime({ offset: true }),
    words: z.array(z.string()),
  }),
  map: (change) => ${map},
});`;

/** One row for each contact. */
export const rowOfContact = (name = 'change.record.name'): string => `({
  id: change.record_id,
  name: ${name},
  connection_id: change.connection_id,
  length: change.record.name.length,
  seen_at: change.first_seen_at,
  words: change.record.name.split(' '),
})`;

export const deployProjection = (
  gateway: GatewayAccess,
  name: string,
  body: object,
): Promise<Answer> => gateway.call('PUT', `/custom-projections/${name}`, { body });

/** The rows of a query; none while the view is not made yet. */
export async function projectedRows(
  gateway: GatewayAccess,
  query: string,
): Promise<readonly (readonly unknown[])[]> {
  const { status, body } = await gateway.call('POST', '/sql', { body: { query } });
  if (status !== 200) return [];
  return (body as { readonly rows: readonly (readonly unknown[])[] }).rows;
}

/** Resolves when the query has the rows; else with what it has in the end. */
export const rowsOnceAre = (
  gateway: GatewayAccess,
  query: string,
  expected: readonly (readonly unknown[])[],
): Promise<readonly (readonly unknown[])[]> =>
  eventually(
    () => projectedRows(gateway, query),
    (rows) => JSON.stringify(rows) === JSON.stringify(expected),
  ).catch(() => projectedRows(gateway, query));

interface Listed {
  readonly name: string;
  readonly projection: string;
  readonly state: string;
  readonly failed_records: number;
  readonly failures: readonly { readonly record_id: string; readonly error: string }[];
}

export async function listedProjection(
  gateway: GatewayAccess,
  name: string,
): Promise<Listed | undefined> {
  const { data } = succeeded(await gateway.call('GET', '/custom-projections'));
  return (data as readonly Listed[]).find((one) => one.name === name);
}
