import type { ChainedEntry } from '#kernel/audit-chain.ts';
import type * as values from '#streams/values.ts';

/** An event before it has its position in the chain. */
export type UnchainedEntry = Omit<ChainedEntry, 'seq' | 'environment'>;

export interface AuditChainEvent {
  readonly type: 'Chained';
  readonly entry: ChainedEntry;
  readonly hash: string;
}

/** A value of `svc.audit.v1`. */
export type AuditEvent = values.AuditEvent;
