import { limits } from '#kernel/limits.ts';
import { defineAppended } from '#streams/projector/appended.ts';
import type { AuditEvent } from './events.ts';

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
  write(rows, event) {
    rows.string(event.environment_id);
    rows.uint(event.chain_seq);
    rows.time(event.occurred_at);
    rows.string(event.actor);
    rows.string(event.action);
    rows.string(event.target);
    rows.string(event.outcome);
    if (event.ip_prefix === null) rows.ascii('\\N');
    else rows.string(event.ip_prefix);
    if (event.details === null) rows.ascii('\\N');
    else rows.string(event.details);
    rows.string(event.chain_hash);
  },
});
