import type { AuditEvent } from '../../src/modules/access/audit/events.ts';
import type { PublicFields } from '../../src/kernel/public-fields.ts';

/** What an audit event says beside the fields that every public value has, and what of those it says otherwise. */
export const audited: Omit<AuditEvent, Exclude<keyof PublicFields, 'actor' | 'run_id'>> = {
  actor: 'key:0198c1a2-7d30-7000-8000-00000000000a',
  run_id: null,
  action: 'connection.read_credentials',
  target: 'github/user-42',
  outcome: 'success',
  ip_prefix: '203.0.113.0/24',
  details: '{"reads":3}',
  chain_seq: 17,
  chain_hash: 'a'.repeat(64),
};
