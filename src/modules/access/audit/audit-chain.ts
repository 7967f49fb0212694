import { chainHash, chainStart, type ChainedEntry } from '#kernel/audit-chain.ts';
import type { Decider } from '#kernel/decider.ts';
import type { Instant } from '#kernel/time.ts';
import type * as values from '#streams/values.ts';

/** The end of the chain of an environment, or of `account`. Scope = path = [that]. Absent until the first event. */
export interface AuditChain {
  /** How many events it has. */
  readonly length: number;
  /** Of the last one. */
  readonly hash: string;
}

/** An event before it has its position in the chain. */
export type UnchainedEntry = Omit<ChainedEntry, 'seq' | 'environment'>;

export interface AuditChainEvent {
  readonly type: 'Chained';
  readonly entry: ChainedEntry;
  readonly hash: string;
}

/** A value of `svc.audit.v1`. */
export type AuditEvent = values.AuditEvent;

export interface AuditCommand {
  readonly type: 'Append';
  readonly environment: string;
  readonly told: UnchainedEntry;
  readonly at: Instant;
}

/** Commands are never refused: an event takes the next position of the chain. */
export const auditChain: Decider<AuditChain | null, AuditCommand, AuditChainEvent> = {
  initial: null,

  decide({ environment, told }, state) {
    const entry = { ...told, environment, seq: (state?.length ?? 0) + 1 };
    return [{ type: 'Chained', entry, hash: chainHash(state?.hash ?? chainStart, entry) }];
  },

  evolve: (_state, { entry, hash }) => ({ length: entry.seq, hash }),
};
