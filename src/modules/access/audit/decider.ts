import { chainHash, chainStart } from '#kernel/audit-chain.ts';
import type { Decider } from '#kernel/decider.ts';
import type { Instant } from '#kernel/time.ts';
import type { AuditChainEvent, UnchainedEntry } from './events.ts';
import type { AuditChain } from './state.ts';

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
