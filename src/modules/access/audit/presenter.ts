import type { ChainedEntry } from '../../../kernel/audit-chain.ts';
import { isoMicros } from '../../../kernel/time.ts';
import type { AuditRow } from './queries.ts';

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
