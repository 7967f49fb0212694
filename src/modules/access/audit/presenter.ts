import { z } from 'zod';
import { data, timestamp } from '../../../http/responses.ts';
import type { ChainedEntry } from '../../../kernel/audit-chain.ts';
import { isoMicros } from '../../../kernel/time.ts';
import type { AuditRow } from './queries.ts';

const eventShape = z
  .strictObject({
    environment: z.string(),
    seq: z.int(),
    at: timestamp,
    actor: z.string().meta({ examples: ['key:0198c1a2-7d30-7000-8000-000000000001'] }),
    action: z.string().meta({ examples: ['api_key.create'] }),
    target: z.string(),
    outcome: z.string().meta({ examples: ['success'] }),
    ip_prefix: z.string().nullable(),
    details: z.looseObject({}).nullable(),
    chain_hash: z.string(),
  })
  .meta({ id: 'AuditEvent' });

export const eventsShape = z.strictObject({
  data: z.array(eventShape),
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

/** An event for people. */
export function presentEvent(row: AuditRow) {
  const { environment, seq, details, occurred_at: at, ...entry } = entryOf(row);
  return {
    environment,
    seq,
    at: isoMicros(at),
    ...entry,
    details: details === null ? null : (JSON.parse(details) as object),
    chain_hash: row.chain_hash,
  };
}

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
