import { limits } from '#kernel/limits.ts';
import { defineAppended } from '#streams/projector/appended.ts';
import type { AuditEvent } from './audit-chain.ts';

/** Sort order for one query: the chain of an environment from a position. */
export const audit = defineAppended<AuditEvent>()({
  name: 'audit',
  topic: 'svc.audit.v1',
  schemaVersion: 1,
  columns: [
    ['environment_id', 'LowCardinality(String)'],
    ['seq', 'UInt64'],
    ['occurred_at', "DateTime64(6, 'UTC')"],
    ['actor', 'String CODEC(ZSTD(1))'],
    ['action', 'LowCardinality(String)'],
    ['target', 'String CODEC(ZSTD(1))'],
    ['outcome', 'LowCardinality(String)'],
    ['ip_prefix', 'Nullable(String)'],
    ['details', 'Nullable(String)'],
    ['chain_hash', 'String'],
  ],
  orderBy: ['environment_id', 'seq'],
  keptFrom: 'occurred_at',
  keepDays: limits.auditKeptDays,
  write(writer, event) {
    writer.string(event.environment_id);
    writer.uint(event.chain_seq);
    writer.time(event.occurred_at);
    writer.string(event.actor);
    writer.string(event.action);
    writer.string(event.target);
    writer.string(event.outcome);
    if (event.ip_prefix === null) writer.ascii('\\N');
    else writer.string(event.ip_prefix);
    if (event.details === null) writer.ascii('\\N');
    else writer.string(event.details);
    writer.string(event.chain_hash);
  },
});
