import { createHash } from 'node:crypto';
import { stableJson, type Json } from './stable-json.ts';

/** What the hash of an audit event covers besides the previous hash; also the export's line without its hash. */
export interface ChainedEntry {
  /** From 1, without holes. */
  readonly seq: number;
  /** Uid of the environment, or `account`. */
  readonly environment: string;
  /** µs. */
  readonly occurred_at: number;
  readonly actor: string;
  readonly action: string;
  readonly target: string;
  readonly outcome: string;
  readonly ip_prefix: string | null;
  /** JSON text. */
  readonly details: string | null;
}

/** The hash before the first event of a chain. */
export const chainStart = '0'.repeat(64);

/** Hex SHA-256 over the previous hash, a line end, and the entry as JSON with sorted keys (docs/audit.md). */
export function chainHash(previous: string, entry: ChainedEntry): string {
  const { seq, environment, occurred_at, actor, action, target, outcome } = entry;
  const { ip_prefix, details } = entry;
  const covered: Json = {
    seq,
    environment,
    occurred_at,
    actor,
    action,
    target,
    outcome,
    ip_prefix,
    details,
  };
  return createHash('sha256')
    .update(`${previous}\n${stableJson(covered)}`)
    .digest('hex');
}
