import { z } from 'zod';
import { representation } from '../../../http/representation.ts';
import { data, timestamp } from '../../../http/responses.ts';
import type { ChainedEntry } from '../../../kernel/audit-chain.ts';
import type { JsonObject } from '../../../kernel/stable-json.ts';
import { isoMicros } from '../../../kernel/time.ts';
import type { AuditRow } from './queries.ts';

/** An event for people. */
const event = representation<ChainedEntry & { readonly hash: string }>()({
  environment: [z.string(), ({ environment }) => environment],
  seq: [z.int(), ({ seq }) => seq],
  at: [timestamp, ({ occurred_at: at }) => isoMicros(at)],
  actor: [
    z.string().meta({ examples: ['key:0198c1a2-7d30-7000-8000-000000000001'] }),
    ({ actor }) => actor,
  ],
  action: [z.string().meta({ examples: ['api_key.create'] }), ({ action }) => action],
  target: [z.string(), ({ target }) => target],
  outcome: [z.string().meta({ examples: ['success'] }), ({ outcome }) => outcome],
  ip_prefix: [z.string().nullable(), ({ ip_prefix: prefix }) => prefix],
  details: [
    z.looseObject({}).nullable(),
    ({ details }) => (details === null ? null : (JSON.parse(details) as JsonObject)),
  ],
  chain_hash: [z.string(), ({ hash }) => hash],
});

export const presentEvent = (row: AuditRow) => event.of({ ...entryOf(row), hash: row.chain_hash });

export const eventsShape = z.strictObject({
  data: z.array(event.schema.meta({ id: 'AuditEvent' })),
  next_cursor: z.string().nullable(),
});

export const chainsShape = data(
  z.array(
    z.strictObject({
      environment: z.string(),
      name: z.string().nullable(),
      length: z.int(),
      hash: z.string(),
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
