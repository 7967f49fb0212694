import { randomUUID } from 'node:crypto';
import type { Replies } from '#control-plane/replies.ts';
import { partitionNumbers } from '#kernel/partition.ts';
import type { Clock } from '#kernel/time.ts';
import type { EventLog } from '#ports/event-log.ts';
import type { Codec } from '#ports/schemas.ts';
import {
  recordCommandsTopic,
  retentionPreview,
  type DueStream,
  type RecordCommandValue,
  type RetentionPreviewAnswer,
  type RetentionPreviewArgs,
} from '../model/commands.ts';
import { reservedKey } from '../model/events.ts';
import { noColumns } from './checked-records.ts';

/** Data of one environment that retention would remove now. */
export interface RetentionDue {
  /** False: the clock is over a day ahead of the log, and nothing would be removed. */
  readonly isClockTrusted: boolean;
  readonly prune: { readonly records: number; readonly streams: number };
  readonly delete: { readonly records: number; readonly streams: number };
  /** The first of them. */
  readonly streams: readonly DueStream[];
}

export interface PreviewDeps {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly replies: Pick<Replies, 'node' | 'expect'>;
  readonly codec: Codec<RecordCommandValue>;
  readonly partitions: number;
}

const answerMs = 60_000;
const streamsShown = 100;

/**
 * Requests the expired data from the owner of every partition, a part of its streams at a time.
 * @throws GatewayError `log_unavailable` when one does not reply
 */
export async function previewRetention(
  deps: PreviewDeps,
  environmentUid: string,
): Promise<RetentionDue> {
  const partitions = partitionNumbers(deps.partitions);
  const answers = await Promise.all(
    partitions.map((partition) => previewPartition(deps, partition, environmentUid)),
  );
  const found = answers.flatMap(({ streams }) => streams);
  const totals = (action: DueStream['action']) => {
    const some = found.filter((stream) => stream.action === action);
    return { records: some.reduce((sum, { records }) => sum + records, 0), streams: some.length };
  };
  return {
    isClockTrusted: answers.every((answer) => answer.isClockTrusted),
    prune: totals('prune'),
    delete: totals('delete'),
    streams: found.slice(0, streamsShown),
  };
}

async function previewPartition(
  deps: PreviewDeps,
  partition: number,
  environmentUid: string,
): Promise<Omit<RetentionPreviewAnswer, 'next'>> {
  const streams: DueStream[] = [];
  let answer: RetentionPreviewAnswer = { isClockTrusted: true, streams: [], next: 0 };
  while (answer.next !== null) {
    answer = await previewOnce(deps, partition, environmentUid, { after: answer.next });
    streams.push(...answer.streams);
  }
  return { isClockTrusted: answer.isClockTrusted, streams };
}

async function previewOnce(
  { log, clock, replies, codec }: PreviewDeps,
  partition: number,
  environmentUid: string,
  args: RetentionPreviewArgs,
): Promise<RetentionPreviewAnswer> {
  const commandId = randomUUID();
  const reply = replies.expect<RetentionPreviewAnswer>(commandId, answerMs);
  const value = codec.encode({
    ...noColumns,
    ...noStream,
    command_id: commandId,
    kind: retentionPreview,
    environment_id: environmentUid,
    asked_at: clock.nowMicros(),
    reply_to: replies.node,
    args: JSON.stringify(args),
  });
  const headers = { 'content-type': 'application/avro' };
  const messages = [{ key: reservedKey, value, headers }];
  await log.append([{ topic: recordCommandsTopic, partition, messages }]);
  const { body } = await reply;
  if (body == null) throw new Error('The owner has answered nothing.');
  return body;
}

/** Sent to a partition, not to a stream, and by no run. */
const noStream = {
  integration: '',
  connection_id: '',
  connection_uid: '',
  model: '',
  variant: '',
  actor: 'system',
  run_id: null,
  attempt: 0,
  n: 0,
  sync_name: null,
};
