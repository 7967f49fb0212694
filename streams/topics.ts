import { limits } from '#kernel/limits.ts';
import { hourMs, dayMs } from '#kernel/time.ts';
import type { Cleanup } from '#ports/event-log.ts';

/**
 * Number of partitions: `owned` topics have SVC_PARTITIONS, until a copy has more of them; `quarter` is a fourth of them, rounded up;
 * others have a fixed number.
 */
type Partitions = 'owned' | 'quarter' | number;

export interface Topic {
  /** The parts of the message key, joined by `joinKey`. */
  readonly key: string;
  readonly partitions: Partitions;
  readonly cleanup: Cleanup;
  /** The Avro file of the values, under `schemas/`. */
  readonly schema: string;
  readonly why: string;
}

const compact = (minLagMs: number, maxLagMs: number) =>
  ({
    policy: 'compact' as const,
    minLagMs,
    maxLagMs,
    tombstoneMs: 7 * dayMs,
  }) satisfies Cleanup;
const keep = (days: number) =>
  ({ policy: 'delete' as const, retentionMs: days * dayMs }) satisfies Cleanup;
const untilDecided: Cleanup = { policy: 'none' };

/** Every topic of the service. docs/reference/topics.md is generated from it. */
export const topics = {
  'svc.records.v1': {
    key: 'environment/connection uid/model/variant/record',
    partitions: 'owned', // chosen by the stream, so that one stream has one order
    cleanup: compact(limits.recordHistoryDays * dayMs, (limits.recordHistoryDays + 1) * dayMs),
    schema: 'records/record-change.v1.avsc',
    why: 'Every change of every record for 28 days, and the latest state for ever.',
  },
  'svc.internal.record-commands.v1': {
    key: 'environment/connection uid/model/variant',
    partitions: 'owned',
    cleanup: untilDecided,
    schema: 'records/record-command.v1.avsc',
    why: 'Commands of runs and callers to the owner of a stream; deleted once decided and a day old.',
  },
  'svc.internal.streams.v1': {
    key: 'environment/connection uid/model/variant',
    partitions: 'owned',
    cleanup: compact(0, dayMs),
    schema: 'records/stream-head.v1.avsc',
    why: 'The head of each stream: its positions, so that an emptied stream continues its numbering.',
  },
  'svc.internal.typed-topics.v1': {
    key: 'typed topic, or - for the partition',
    partitions: 'owned',
    cleanup: compact(0, dayMs),
    schema: 'records/typed-topic-progress.v1.avsc',
    why: 'Progress of each typed topic, written in one transaction with its events.',
  },
  'svc.internal.commands.v1': {
    key: 'the scope within which the entity is unique',
    partitions: 'owned',
    cleanup: untilDecided,
    schema: 'control/control-command.v1.avsc',
    why: 'Commands to the owners of the control plane.',
  },
  'svc.internal.control.v1': {
    key: 'kind/path of the entity',
    partitions: 'owned',
    cleanup: compact(0, dayMs),
    schema: 'control/control-entity.v1.avsc',
    why: 'The full state of every entity of the control plane, secrets sealed; views are built from it.',
  },
  'svc.internal.replies.v1': {
    key: 'asking node',
    partitions: 'owned',
    cleanup: { policy: 'delete', retentionMs: hourMs },
    schema: 'control/reply.v1.avsc',
    why: 'Replies of owners to the sending node.',
  },
  'svc.internal.keys.v1': {
    key: 'key id',
    partitions: 1,
    cleanup: { ...compact(0, limits.keySegmentMs), isErasable: true },
    schema: 'control/wrapped-key.v1.avsc',
    why: 'Data keys wrapped by the root key, separate from the data that they seal: deleting one shreds its data.',
  },
  'svc.internal.run-bodies.v1': {
    key: 'run',
    partitions: 'owned',
    cleanup: keep(limits.runBodiesKeptDays),
    schema: 'runs/run-body.v1.avsc',
    why: 'Inputs, outputs and recorded calls of runs, sealed.',
  },
  'svc.connections.v1': {
    key: 'environment/integration/connection',
    partitions: 'owned',
    cleanup: compact(0, dayMs),
    schema: 'control/connection-changed.v1.avsc',
    why: 'The life of connections, without secrets.',
  },
  'svc.credentials.v1': {
    key: 'environment/integration/connection',
    partitions: 'owned',
    cleanup: keep(400),
    schema: 'control/credentials-changed.v1.avsc',
    why: 'Storage, refresh, refusal and shredding of credentials; never the credentials.',
  },
  'svc.config.v1': {
    key: 'kind/id',
    partitions: 1,
    cleanup: compact(0, dayMs),
    schema: 'control/config-changed.v1.avsc',
    why: 'Environments, integrations, functions, keys and endpoints, without secrets.',
  },
  'svc.syncs.v1': {
    key: 'environment/integration/connection/sync/variant',
    partitions: 'owned',
    cleanup: compact(0, dayMs),
    schema: 'runs/sync-changed.v1.avsc',
    why: 'State, schedule and checkpoint of each sync of each connection.',
  },
  'svc.runs.v1': {
    key: 'environment/integration/connection/run',
    partitions: 'owned',
    cleanup: keep(limits.runsKeptDays),
    schema: 'runs/run-changed.v1.avsc',
    why: 'The ledger of runs: queued, started, progress, one end.',
  },
  'svc.webhooks-in.v1': {
    key: 'environment/integration/-',
    partitions: 'owned',
    cleanup: keep(14),
    schema: 'webhooks/webhook-in.v1.avsc',
    why: 'Incoming webhooks of providers, and the outcome of each.',
  },
  'svc.webhooks-out.v1': {
    key: 'environment/message',
    partitions: 'owned',
    cleanup: keep(30),
    schema: 'webhooks/webhook-out.v1.avsc',
    why: 'Webhooks to the application and the outcome of each attempt.',
  },
  'svc.logs.v1': {
    key: 'environment/operation',
    partitions: 'owned',
    cleanup: keep(15),
    schema: 'runs/log-entry.v1.avsc',
    why: 'Operations and messages of the user-visible log.',
  },
  'svc.audit.v1': {
    key: 'environment, or account',
    partitions: 1,
    cleanup: keep(400),
    schema: 'control/audit-event.v1.avsc',
    why: 'Changes of settings, reads of credentials and uses of keys, as a chain of hashes per environment.',
  },
  'svc.projections.v1': {
    key: 'projection',
    partitions: 1,
    cleanup: compact(0, dayMs),
    schema: 'control/projection-changed.v1.avsc',
    why: 'The active, building and kept generations of the tables; projectors and readers follow it.',
  },
  'svc.dead-letters.v1': {
    key: 'original key', // also of later steps of a dead letter, so that they have one order
    partitions: 'quarter',
    cleanup: keep(30),
    schema: 'control/dead-letter.v1.avsc',
    why: 'Messages that could not be processed in five attempts, with the cause.',
  },
} as const satisfies Record<string, Topic>;

/** Cleanup of typed topics, `svc.cdc.<environment>.<integration>.<model>.v<major>`, which are created at run time. */
export const typedTopicCleanup = keep(29);

/** Cleanup of their heartbeats, `svc.cdc.<environment>.<integration>.<model>.heartbeat`: only the last ones say something. */
export const heartbeatCleanup = keep(1);

export type TopicName = keyof typeof topics;

/** Whether data teams may read it: an `internal` topic changes without notice. */
export const isPublicTopic = (name: string): boolean => !name.startsWith('svc.internal.');

/** The number of partitions of the topic, if owned ones have `owned`. */
export function partitionsOf({ partitions }: Pick<Topic, 'partitions'>, owned: number): number {
  if (partitions === 'owned') return owned;
  return partitions === 'quarter' ? Math.ceil(owned / 4) : partitions;
}
