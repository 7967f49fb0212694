import { z } from 'zod';
import { jsonObject } from '#http/fields.ts';
import { representation } from '#http/representation.ts';
import { timestamp } from '#http/responses.ts';
import { isoMillis, isoMillisOrNull } from '#kernel/time.ts';
import { formatFrequency } from '../functions/frequency.ts';
import { effectiveFrequencyMs, type SyncInstance } from './state.ts';

const lastStatus = {
  queued: null,
  started: null,
  succeeded: 'SUCCESS',
  cancelled: 'STOPPED',
  failed: 'ERROR',
  timed_out: 'ERROR',
  interrupted: 'ERROR',
} as const;

/** A sync of a connection, with what its state does not hold. */
interface SyncShown extends SyncInstance {
  readonly showsConnection: boolean;
  /** Null where the last run did not report what it changed. */
  readonly recordsReadable: boolean | null;
  /** By model. */
  readonly counted: Readonly<Record<string, number>>;
}

const counts = z.strictObject({ added: z.int(), updated: z.int(), deleted: z.int() });
const models = <S extends z.ZodType>(shape: S) => z.record(z.string(), shape);

const status = representation<SyncShown>()({
  id: z.string().describe('Id of the sync of the connection.'),
  name: [
    z.string().meta({ description: 'Name of the sync.', examples: ['contacts'] }),
    ({ syncName }) => syncName,
  ],
  variant: z.string().meta({ examples: ['base'] }),
  connection_id: [
    z
      .string()
      .nullable()
      .meta({
        description:
          'Null where the request names no connection and the key lacks environment:connections:list.',
        examples: ['acme-1'],
      }),
    ({ showsConnection, connectionId }) => (showsConnection ? connectionId : null),
  ],
  type: [
    z.enum(['INITIAL', 'INCREMENTAL']).describe('`INITIAL` until a run has succeeded.'),
    ({ lastSyncDate }) => (lastSyncDate === null ? 'INITIAL' : 'INCREMENTAL'),
  ],
  status: [
    z
      .enum(['RUNNING', 'PAUSED', 'ERROR', 'SUCCESS', 'STOPPED'])
      .describe('State of the sync: of its schedule, or of its run.'),
    (sync) => statusOf(sync),
  ],
  latestExecutionStatus: [
    z
      .enum(['RUNNING', 'SUCCESS', 'STOPPED', 'ERROR'])
      .nullable()
      .describe('Outcome of the last run; null before the first.'),
    ({ current, last }) =>
      current !== null ? 'RUNNING' : last === null ? null : lastStatus[last.status],
  ],
  frequency: [
    z.string().meta({ examples: ['1h'] }),
    (sync) => formatFrequency(effectiveFrequencyMs(sync)),
  ],
  finishedAt: [
    timestamp
      .optional()
      .describe('Time of the end of the last run (RFC 3339); absent before the first.'),
    ({ last }) => (last === null ? undefined : isoMillis(last.endedAt)),
  ],
  latestResult: [
    models(counts).optional().describe('Changes of the last run, by model.'),
    ({ last }) => last?.counts,
  ],
  nextScheduledSyncAt: [
    timestamp.nullable().describe('Time of the next run (RFC 3339); null without a schedule.'),
    ({ nextDueAt }) => isoMillisOrNull(nextDueAt),
  ],
  records_readable: z.boolean().nullable().meta({
    description:
      'Whether everything that the last run changed can be read; the answer waits for it for up to two seconds. Null where that run ended without a report of what it changed: most runs that were cancelled, interrupted or timed out.',
  }),
  recordCount: [models(z.int()).describe('Number of records, by model.'), ({ counted }) => counted],
  checkpoint: jsonObject
    .nullable()
    .describe('Checkpoint that the next run starts with; null without one.'),
});

export const presentStatus = status.of;
const statusShape = status.schema.meta({ id: 'SyncStatus' });

/** A cancelled run is not an error of the sync. */
function statusOf({ current, state, last }: SyncInstance) {
  if (current !== null) return 'RUNNING';
  if (state === 'paused') return 'PAUSED';
  return last !== null && lastStatus[last.status] === 'ERROR' ? 'ERROR' : 'SUCCESS';
}

export const statusesShape = z.strictObject({ syncs: z.array(statusShape).describe('The syncs.') });

export const frequencyShape = z.strictObject({
  frequency: z.string().meta({ examples: ['1h'] }),
});

export const variantShape = z.strictObject({
  id: z.string().describe('Id of the sync of the connection.'),
  name: z.string().describe('Name of the sync.'),
  variant: z.string(),
});
