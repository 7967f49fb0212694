import type { PublicFields } from '../../../kernel/public-fields.ts';
import type { ChainedEntry } from '../../../kernel/audit-chain.ts';

/** An event before it has its position in the chain. */
export type Published = Omit<ChainedEntry, 'seq' | 'environment'>;

export interface AuditChainEvent {
  readonly type: 'Chained';
  readonly entry: ChainedEntry;
  readonly hash: string;
}

/**
 * A value of `svc.audit.v1`.
 * @see schemas/control/audit-event.v1.avsc
 */
export interface AuditEvent extends PublicFields {
  readonly action: string;
  readonly target: string;
  /** `success`, or an error code. */
  readonly outcome: string;
  readonly ip_prefix: string | null;
  /** JSON. */
  readonly details: string | null;
  readonly chain_seq: number;
  readonly chain_hash: string;
}
