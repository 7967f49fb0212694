import { limits } from '#kernel/limits.ts';
import { defineAppended } from '#streams/projector/appended.ts';
import type { LogEntry } from './events.ts';

/**
 * Sort order for queries of an environment within a time range. An operation is found by its entries with a type, which
 * all contain its start time.
 */
export const logs = defineAppended<LogEntry>()({
  name: 'logs',
  topic: 'svc.logs.v1',
  schemaVersion: 1,
  columns: [
    ['environment_id', 'LowCardinality(String)'],
    ['occurred_at', "DateTime64(6, 'UTC')"],
    ['event_id', 'String'],
    ['operation_id', 'String CODEC(ZSTD(1))'],
    ['operation_type', 'LowCardinality(String)'],
    ['state', 'LowCardinality(String)'],
    ['started_at', "DateTime64(6, 'UTC')"],
    ['integration', 'LowCardinality(String)'],
    ['connection_id', 'String CODEC(ZSTD(1))'],
    ['function', 'LowCardinality(String)'],
    ['run_id', 'String CODEC(ZSTD(1))'],
    ['level', 'LowCardinality(String)'],
    ['source', 'LowCardinality(String)'],
    ['message', 'String CODEC(ZSTD(1))'],
    ['context', 'String CODEC(ZSTD(1))'],
  ],
  indexes: ['INDEX operations operation_id TYPE bloom_filter(0.01) GRANULARITY 4'],
  orderBy: ['environment_id', 'occurred_at'],
  keptFrom: 'occurred_at',
  keepDays: limits.logsKeptDays,
  write(writer, entry) {
    writer.string(entry.environment_id);
    writer.time(entry.occurred_at);
    writer.string(entry.event_id);
    writer.string(entry.operation_id);
    writer.string(entry.operation_type ?? '');
    writer.string(entry.state ?? '');
    writer.time(entry.started_at ?? entry.occurred_at);
    writer.string(entry.integration ?? '');
    writer.string(entry.connection_id ?? '');
    writer.string(entry.function ?? '');
    writer.string(entry.run_id ?? '');
    writer.string(entry.level);
    writer.string(entry.source ?? 'internal');
    writer.string(entry.message);
    writer.string(entry.context ?? '');
  },
});
