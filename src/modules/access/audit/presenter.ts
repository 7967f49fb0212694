import { z } from 'zod';
import { representation } from '#http/representation.ts';
import { data, timestamp } from '#http/responses.ts';
import type { ChainedEntry } from '#kernel/audit-chain.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import { isoMicros } from '#kernel/time.ts';
import type { AuditRow } from './queries.ts';

/** An event for people. */
const event = representation<ChainedEntry & { readonly hash: string }>()({
  environment: z.string().describe('UUID of the environment, or `account`.'),
  seq: z.int().describe('Number of the event in its chain, from 1.'),
  at: [timestamp, ({ occurred_at: at }) => isoMicros(at)],
  actor: z.string().meta({ examples: ['key:0198c1a2-7d30-7000-8000-000000000001'] }),
  action: z
    .string()
    .meta({ description: 'The action, as noun and verb.', examples: ['api_key.create'] }),
  target: z.string().describe('What the action was about.'),
  outcome: z
    .string()
    .meta({ description: '`success`, or the code of the error.', examples: ['success'] }),
  ip_prefix: [
    z
      .string()
      .nullable()
      .describe('Network of the client: /24 of IPv4, /48 of IPv6; null where unknown.'),
    ({ ip_prefix: prefix }) => prefix,
  ],
  details: [
    z.looseObject({}).nullable().describe('Further facts of the action; null without any.'),
    ({ details }) => (details === null ? null : (JSON.parse(details) as JsonObject)),
  ],
  chain_hash: [
    z.string().describe('Hash of the event and of the one before it.'),
    ({ hash }) => hash,
  ],
});

export const presentEvent = (row: AuditRow) => event.of({ ...entryOf(row), hash: row.chain_hash });

export const eventsShape = z.strictObject({
  data: z.array(event.schema.meta({ id: 'AuditEvent' })),
  next_cursor: z.string().nullable(),
});

export const chainsShape = data(
  z.array(
    z.strictObject({
      environment: z.string().describe('UUID of the environment, or `account`.'),
      name: z.string().nullable().describe('Name of the environment; null for the account.'),
      length: z.int().describe('Number of events in the chain.'),
      hash: z.string().describe('Hash of the last event, in hexadecimal.'),
    }),
  ),
);

/** An event of the chain: the input of `chainHash`, and the hash. */
export const exportedEvent = (row: AuditRow): ChainedEntry & { readonly chain_hash: string } => ({
  ...entryOf(row),
  chain_hash: row.chain_hash,
});

const entryOf = (row: AuditRow): ChainedEntry => ({
  seq: Number(row.seq),
  environment: row.environment_id,
  occurred_at: Number(row.happened),
  actor: row.actor,
  action: row.action,
  target: row.target,
  outcome: row.outcome,
  ip_prefix: row.ip_prefix,
  details: row.details,
});
