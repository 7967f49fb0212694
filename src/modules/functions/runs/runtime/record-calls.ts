import { GatewayError } from '#kernel/errors.ts';
import { parseRawJson } from '#kernel/exact-json.ts';
import type { ConnectionId, ConnectionUid, EnvironmentUid, IntegrationKey } from '#kernel/ids.ts';
import type { Json } from '#kernel/stable-json.ts';
import { isoMicros } from '#kernel/time.ts';
import type { Stream } from '#modules/records/model/stream.ts';
import type { RecordReader, PageQuery } from '#modules/records/read/reader.ts';
import type { RecordWriter, WriteOrigin, StoredRecord } from '#modules/records/write/writer.ts';
import type { HostCalls, LogLine } from '#ports/sandbox.ts';
import { parseArgs, parseJson, shapes } from '#rules/arguments.ts';
import type { RunScope, RuntimeDeps } from './deps.ts';
import { abortError } from './provider-calls.ts';

/** Much more than the normal lag of the tables, and less than a run may be blocked. */
const readableWithinMs = 60_000;

/** Tracks the writes of a run, and when the tables contain them. */
interface OwnWrites {
  /** Runs work that writes the stream. */
  during<T>(stream: Stream, task: () => Promise<T>): Promise<T>;
  /**
   * Resolves when all writes of the run to the stream are readable, including those of earlier attempts.
   * @throws GatewayError `projection_unavailable`, and as the run is aborted
   */
  readable(stream: Stream): Promise<void>;
}

function ownWrites(
  { writer, reader }: { readonly writer: RecordWriter; readonly reader: RecordReader },
  origin: WriteOrigin,
  signal: AbortSignal,
): OwnWrites {
  /** Streams that the run has not written since. */
  const settled = new Set<Stream>();
  return {
    async during(stream, task) {
      try {
        return await task();
      } finally {
        settled.delete(stream);
      }
    },
    async readable(stream) {
      if (settled.has(stream)) return;
      // Set first, because a concurrent write resets it.
      settled.add(stream);
      const late = AbortSignal.timeout(readableWithinMs);
      try {
        const { partition, offset } = await writer.barrier(stream, origin);
        await reader.published(partition, offset, AbortSignal.any([signal, late]));
      } catch (error) {
        settled.delete(stream);
        if (signal.aborted) throw abortError(signal);
        if (!late.aborted) throw error;
        throw new GatewayError('projection_unavailable', { retryAfterS: 1 }, { cause: error });
      }
    },
  };
}

const recordsPerCallMax = 1000;
const idsShownMax = 20;

const writes = { batchSave: 'save', batchUpdate: 'update', batchDelete: 'delete' } as const;

type Calls = Pick<
  HostCalls,
  | 'batchSave'
  | 'batchUpdate'
  | 'batchDelete'
  | 'trackDeletesStart'
  | 'trackDeletesEnd'
  | 'deleteRecordsFromPreviousExecutions'
  | 'getRecordsById'
  | 'listRecords'
  | 'setMergingStrategy'
>;

/** The record methods of a sync, on the streams of its models. */
export function recordCalls(deps: RuntimeDeps): Calls {
  const { run, records, timeline, log, signal } = deps;
  const { writer, reader } = records;
  const { runId, attempt, functionName: syncName, actor } = run;
  const origin: WriteOrigin = { runId, attempt, syncName, actor };
  const streams = new Map(run.models.map((model) => [model, streamOf(run, model)]));
  const own = ownWrites(records, origin, signal);
  const streamFor = (model: string) => used(streams, model, deps.usedModels);

  const write = (name: keyof typeof writes) => async (args: string) => {
    const { model, list } = batchOf(args);
    const method = writes[name];
    const stream = streamFor(model);
    await own.during(stream, () => writer[method](stream, origin, list));
    timeline({ what: method, model, count: list.length });
    log.lines(linesOfRepeated(repeatedIds(list), `${name} was given records of ${model}`));
    return 'null';
  };

  const passEnd =
    (method: 'passEnd' | 'runPassEnd', missing: (model: string) => string) =>
    async (args: string) => {
      const { model } = parseArgs(shapes.model, args);
      const stream = streamFor(model);
      const end = own.during(stream, () => writer[method](stream, origin));
      const ended = await end.catch((error: unknown) => {
        if (!(error instanceof GatewayError) || error.code !== 'delete_pass_missing') throw error;
        throw new GatewayError('delete_pass_missing', { message: missing(model) });
      });
      timeline({ what: 'track_deletes_end', model, count: ended.deletedKeys.length });
      return JSON.stringify(ended);
    };

  return {
    batchSave: write('batchSave'),
    batchUpdate: write('batchUpdate'),
    batchDelete: write('batchDelete'),
    trackDeletesStart: async (args) => {
      const { model } = parseArgs(shapes.model, args);
      await writer.passStart(streamFor(model), origin);
      timeline({ what: 'track_deletes_start', model });
      return 'null';
    },
    trackDeletesEnd: passEnd('passEnd', noPassStarted),
    deleteRecordsFromPreviousExecutions: passEnd('runPassEnd', noRunPass),
    getRecordsById: async (args) => {
      const { model, ids } = parseArgs(shapes.getRecordsById, args);
      const found = await writer.lookup(streamFor(model), origin, ids);
      return JSON.stringify(found.map(presentRecord));
    },
    listRecords: async (args) => {
      const { model, cursor, limit } = parseArgs(shapes.listRecords, args);
      const stream = streamFor(model);
      await own.readable(stream);
      return pageText(reader, { stream, cursor, limit });
    },
    setMergingStrategy: async (args) => {
      const { model, strategy } = parseArgs(shapes.setMergingStrategy, args);
      await writer.setMergingStrategy(streamFor(model), origin, strategy);
      return 'null';
    },
  };
}

async function pageText(
  reader: RecordReader,
  query: Pick<PageQuery, 'stream' | 'cursor' | 'limit'>,
): Promise<string> {
  const filter = { modifiedAfter: null, actions: null, ids: null };
  const { body } = await reader.page({ ...query, ...filter });
  return Buffer.from(body.buffer, body.byteOffset, body.length).toString('utf8');
}

function streamOf(run: RunScope, model: string): Stream {
  // The control plane validated the names when the entities were created.
  return {
    environmentUid: run.environmentUid as EnvironmentUid,
    connectionUid: run.connectionUid as ConnectionUid,
    model,
    variant: run.variant,
    integration: run.integrationKey as IntegrationKey,
    connectionId: run.connectionId as ConnectionId,
  };
}

/**
 * The stream of a declared model, which is noted as used.
 * @throws GatewayError `unknown_model` with the declared models
 */
function used(
  streams: ReadonlyMap<string, Stream>,
  model: string,
  usedModels: Set<string> | undefined,
): Stream {
  const stream = streams.get(model);
  if (stream !== undefined) {
    usedModels?.add(model);
    return stream;
  }
  const names = [...streams.keys()].join(', ');
  const message = `The model '${model}' is not included in the declared sync models: ${names}.`;
  throw new GatewayError('unknown_model', { message });
}

/** Checked only as far as needed: the writer checks every record, and this is the hot path. */
function batchOf(args: string): { model: string; list: Json[] } {
  const input = parseJson(args, parseRawJson) as { model?: unknown; records?: unknown } | null;
  const { model, records: list } = input ?? {};
  if (typeof model !== 'string' || !Array.isArray(list) || list.length > recordsPerCallMax) {
    throw new GatewayError('invalid_request', { message: 'The batch is not valid.' });
  }
  return { model, list: list as Json[] };
}

/** Ids that several records of a checked list have (docs/reference/records.md#writes). */
function repeatedIds(list: readonly Json[]): string[] {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const record of list as readonly { readonly id: string | number }[]) {
    const id = String(record.id);
    if (seen.has(id)) repeated.add(id);
    else seen.add(id);
  }
  return [...repeated];
}

function linesOfRepeated(ids: readonly string[], what: string): LogLine[] {
  if (ids.length === 0) return [];
  const listed = ids.slice(0, idsShownMax).join(', ') + (ids.length > idsShownMax ? ', …' : '');
  const message = `${what} with the same id: the last of each counts. Ids: ${listed}`;
  return [{ level: 'warn', message, payload: null }];
}

const noPassStarted = (model: string): string =>
  `No track deletes starting point found for model '${model}'.`;

/** A webhook's run has only one delivery, and a name that is built at run time is not found in the bundle. */
const noRunPass = (model: string): string =>
  `No pass over this run for model '${model}': call svc.deleteRecordsFromPreviousExecutions by its name, in exec.`;

/** Marks a deleted record. */
function presentRecord({ id, payload, deletedAt }: StoredRecord): object {
  if (deletedAt === null) return { ...payload, id };
  return { ...payload, id, _metadata: { deleted: true, deleted_at: isoMicros(deletedAt) } };
}
