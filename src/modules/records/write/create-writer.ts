import { randomUUID } from 'node:crypto';
import type { LogPorts } from '#control-plane/ports.ts';
import type { Replies } from '#control-plane/replies.ts';
import { inSendSpan, sampledTrace, traceHeaders } from '#control-plane/trace.ts';
import { parseRawJson } from '#kernel/exact-json.ts';
import { joinKey } from '#kernel/ids.ts';
import { limits } from '#kernel/limits.ts';
import { partitionOf } from '#kernel/partition.ts';
import { recordIdText } from '#kernel/record-id.ts';
import type { Json, JsonObject } from '#kernel/stable-json.ts';
import type { Clock } from '#kernel/time.ts';
import type { Vault } from '#modules/access/vault/vault.ts';
import type { Codec } from '#ports/schemas.ts';
import {
  recordCommandsTopic,
  type BarrierReply,
  type ClosedStream,
  type CommandKind,
  type DeletedKeysAnswer,
  type DeletedKeysArgs,
  type LookedUp,
  type LookupAnswer,
  type PruneAnswer,
  type PruneArgs,
  type RecordCommandValue,
  type RevertAnswer,
  type RevertArgs,
  type RunPassArgs,
  type StrategyArgs,
} from '../model/commands.ts';
import { blockContext, payloadContext } from '../model/sealed-payload.ts';
import { streamKey, type Stream } from '../model/stream.ts';
import {
  checkRecords,
  type CheckedRecords,
  noColumns,
  commandColumns,
  type Columns,
} from './checked-records.ts';
import { createOutbox, type CommandChannel, type Outbox } from './outbox.ts';
import { previewRetention } from './retention-preview.ts';
import type { FormerRecord, RecordWriter, StoredRecord, WriteOrigin } from './writer.ts';

export interface RecordWriterDeps extends LogPorts {
  readonly clock: Clock;
  readonly replies: Pick<Replies, 'node' | 'expect'>;
  readonly vault: Pick<Vault, 'ready' | 'sealBytes' | 'openBytes' | 'fingerprint'>;
  /** Whether the environment's payloads are sent sealed. */
  payloadMode(environmentUid: string): 'plain' | 'sealed';
  /** Where crash tests may end the process. */
  readonly faultPoint?: (name: string) => void;
}

/** Timeouts of replies; the long one for commands with many decisions, or that wait for all earlier ones. */
const answerMs = 60_000;
const longAnswerMs = 10 * 60_000;
const lookupIdsMax = 500;

/** Writer of records; several may exist, each with its own replies. */
export async function createRecordWriter(deps: RecordWriterDeps): Promise<RecordWriter> {
  const writer: Writer = {
    deps,
    codec: await deps.schemas.codec<RecordCommandValue>(recordCommandsTopic),
    partitions: await deps.log.partitions(recordCommandsTopic),
    outbox: createOutbox(deps),
  };
  return {
    save: (stream, origin, records) => change(writer, 'save', stream, origin, records),
    update: (stream, origin, records) => change(writer, 'update', stream, origin, records),
    delete: (stream, origin, records) => change(writer, 'delete', stream, origin, records),
    passStart: (stream, origin) =>
      send(writer, from(stream, origin), 'pass_start', () => [noColumns]),
    passEnd: (stream, origin) => passEnd(writer, from(stream, origin)),
    runPassStart(stream, origin, { isResumed }) {
      const args: RunPassArgs = { isOfRun: true, isResumed };
      return send(writer, from(stream, origin), 'pass_start', () => [noColumns], { args });
    },
    runPassEnd: (stream, origin) => passEnd(writer, from(stream, origin), { isOfRun: true }),
    lookup: (stream, origin, ids) => lookup(writer, from(stream, origin), ids),
    async setMergingStrategy(stream, origin, strategy) {
      const args: StrategyArgs = { strategy };
      await executeSave(writer, from(stream, origin), 'strategy', { args });
    },
    revert: (stream, origin, records) => revert(writer, from(stream, origin), records),
    prune(stream, actor, until) {
      const args: PruneArgs = until;
      return executeSave<PruneAnswer>(writer, by(stream, actor), 'prune', { args });
    },
    previewRetention: (environmentUid) => previewRetention({ ...deps, ...writer }, environmentUid),
    async empty(stream, actor) {
      await executeSave(writer, by(stream, actor), 'empty', { timeoutMs: longAnswerMs });
    },
    close: (stream, actor) =>
      executeSave<ClosedStream>(writer, by(stream, actor), 'close', { timeoutMs: longAnswerMs }),
    async barrier(stream, origin, args = { hasSucceeded: false }) {
      const sender = from(stream, origin);
      const options = { args, timeoutMs: longAnswerMs };
      const { offset, failures, ...counts } = await executeSave<BarrierReply>(
        writer,
        sender,
        'barrier',
        options,
      );
      return { counts, partition: laneOf(writer, sender).partition, offset, failures };
    },
  };
}

interface Writer {
  readonly deps: RecordWriterDeps;
  readonly codec: Codec<RecordCommandValue>;
  readonly partitions: number;
  readonly outbox: Outbox;
}

/** Sender and stream of commands; `origin` is null without a run. */
interface Sender {
  readonly stream: Stream;
  readonly actor: string;
  readonly origin: WriteOrigin | null;
}

const from = (stream: Stream, origin: WriteOrigin): Sender => ({
  stream,
  origin,
  actor: origin.actor,
});
const by = (stream: Stream, actor: string): Sender => ({ stream, actor, origin: null });

async function change(
  writer: Writer,
  kind: 'save' | 'update' | 'delete',
  stream: Stream,
  origin: WriteOrigin,
  records: readonly Json[],
): Promise<void> {
  const checked = checkRecords(records, stream.model, kind === 'delete' ? 'id' : 'whole');
  if (checked.ids.length === 0) return;
  await send(writer, from(stream, origin), kind, (isSealed) =>
    packed(writer, stream, checked, isSealed),
  );
  writer.deps.faultPoint?.('records:after-command-append');
}

async function revert(
  writer: Writer,
  sender: Sender,
  records: readonly FormerRecord[],
): Promise<readonly string[]> {
  const { deps } = writer;
  const { environmentUid, connectionUid } = sender.stream;
  const isSealed = deps.payloadMode(environmentUid) === 'sealed';
  if (isSealed) await deps.vault.ready(connectionUid);
  const texts = records.map(({ id, payload }) => payload ?? `{"id":${JSON.stringify(id)}}`);
  const checked: CheckedRecords = {
    ids: records.map(({ id }) => id),
    texts,
    deletedAt: records.map(({ deletedAt }) => deletedAt ?? 0),
  };
  const left: string[] = [];
  let at = 0;
  for (const packedNow of packed(writer, sender.stream, checked, isSealed)) {
    const columns = { ...packedNow, payloads: Buffer.from(packedNow.payloads) };
    const part = records.slice(at, (at += columns.ids.length));
    const args: RevertArgs = {
      expected: part.map(({ expected }) => expected),
      deletes: part.flatMap(({ payload }, index) => (payload === null ? [index] : [])),
    };
    // To a request repeated after a hand-over, an owner returns only that it is done.
    const answer = await executeSave<RevertAnswer | null>(writer, sender, 'revert', {
      args,
      columns,
    });
    left.push(...(answer?.left ?? []));
  }
  return left;
}

function packed(
  { deps: { vault } }: Writer,
  stream: Stream,
  checked: CheckedRecords,
  isSealed: boolean,
): Iterable<Columns> {
  if (!isSealed) return commandColumns(checked, null);
  const { connectionUid } = stream;
  const key = streamKey(stream);
  return commandColumns(checked, (payloads, owners) =>
    vault.sealBytes(connectionUid, payloads, blockContext(key, owners)),
  );
}

interface SendOptions {
  readonly args?: object;
  readonly commandId?: string;
}

async function send(
  writer: Writer,
  sender: Sender,
  kind: CommandKind,
  columns: (isSealed: boolean) => Iterable<Columns>,
  { args, commandId }: SendOptions = {},
): Promise<void> {
  const { codec, deps } = writer;
  const { environmentUid, connectionUid } = sender.stream;
  const isSealed = sender.origin !== null && deps.payloadMode(environmentUid) === 'sealed';
  // All commands of a run use the same queue, so that its calls keep their order.
  if (isSealed) await deps.vault.ready(connectionUid);
  const key = streamKey(sender.stream);
  const common = {
    ...commonFields(sender, kind),
    asked_at: deps.clock.nowMicros(),
    reply_to: commandId === undefined ? null : deps.replies.node,
    args: args === undefined ? null : JSON.stringify(args),
  };
  const channel = laneOf(writer, sender);
  await inSendSpan(recordCommandsTopic, channel.partition, () => {
    const trace = sampledTrace();
    const headers = {
      'content-type': 'application/avro',
      ...(trace === null ? {} : traceHeaders(trace)),
    };
    const messageOf = (part: Columns) => (n: number) => ({
      key,
      value: codec.encode({ ...common, ...part, command_id: commandId ?? randomUUID(), n }),
      headers,
    });
    return writer.outbox.send(channel, Iterator.from(columns(isSealed)).map(messageOf));
  });
}

function commonFields({ stream, actor, origin }: Sender, kind: CommandKind) {
  return {
    kind,
    environment_id: stream.environmentUid,
    integration: stream.integration,
    connection_id: stream.connectionId,
    connection_uid: stream.connectionUid,
    model: stream.model,
    variant: stream.variant,
    actor,
    run_id: origin?.runId ?? null,
    attempt: origin?.attempt ?? 0,
    sync_name: origin?.syncName ?? null,
  };
}

function laneOf({ partitions }: Writer, { stream, origin, actor }: Sender): CommandChannel {
  const key = streamKey(stream);
  return {
    id: joinKey(key, origin?.runId ?? '', String(origin?.attempt ?? actor)),
    partition: partitionOf(key, partitions),
    isNumbered: origin !== null,
  };
}

interface ExecuteOptions {
  readonly args?: object;
  readonly columns?: Columns;
  readonly timeoutMs?: number;
}

/** @throws GatewayError the owner's refusal; `log_unavailable` without a reply */
async function executeSave<T>(
  writer: Writer,
  sender: Sender,
  kind: CommandKind,
  { args, columns = noColumns, timeoutMs = answerMs }: ExecuteOptions = {},
): Promise<T> {
  const commandId = randomUUID();
  const reply = writer.deps.replies.expect<T>(commandId, timeoutMs);
  await send(writer, sender, kind, () => [columns], {
    commandId,
    ...(args === undefined ? {} : { args }),
  });
  // Commands without a result have a reply without a body.
  return (await reply).body as T;
}

async function passEnd(
  writer: Writer,
  sender: Sender,
  runPass?: RunPassArgs,
): Promise<{ deletedKeys: string[] }> {
  const options = {
    timeoutMs: longAnswerMs,
    ...(runPass === undefined ? {} : { args: runPass }),
  };
  let answer = await executeSave<DeletedKeysAnswer>(writer, sender, 'pass_end', options);
  const deletedKeys = [...answer.keys];
  while (answer.next !== null) {
    const args: DeletedKeysArgs = answer.next;
    answer = await executeSave<DeletedKeysAnswer>(writer, sender, 'deleted_keys', { args });
    for (const key of answer.keys) deletedKeys.push(key);
  }
  return { deletedKeys };
}

async function lookup(
  writer: Writer,
  sender: Sender,
  ids: readonly string[],
): Promise<StoredRecord[]> {
  const records: StoredRecord[] = [];
  // No record has another text.
  const possible = ids.flatMap((id) => recordIdText(id, limits.recordIdCharsMax) ?? []);
  let at = 0;
  while (at < possible.length) {
    const columns = { ...noColumns, ids: possible.slice(at, at + lookupIdsMax) };
    const { found, done } = await executeSave<LookupAnswer>(writer, sender, 'lookup', { columns });
    for (const item of found) records.push(await opened(writer, sender.stream, item));
    at += Math.max(1, done);
  }
  return records;
}

async function opened(
  { deps: { vault } }: Writer,
  stream: Stream,
  { id, deletedAt, payload, isSealed }: LookedUp,
): Promise<StoredRecord> {
  if (payload === null) return { id, deletedAt, payload: { id } };
  if (!isSealed) return { id, deletedAt, payload: parseRawJson(payload) as JsonObject };
  const { connectionUid } = stream;
  await vault.ready(connectionUid);
  const context = payloadContext(streamKey(stream), id);
  const text = vault.openBytes(connectionUid, Buffer.from(payload, 'base64'), context);
  return { id, deletedAt, payload: parseRawJson(text.toString()) as JsonObject };
}
