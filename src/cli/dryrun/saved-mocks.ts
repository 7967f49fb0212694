import { existsSync, readFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, dirname } from 'node:path';
import { parseRawJson } from '#kernel/exact-json.ts';
import { type JsonObject, isJsonObject, objectOf, type Json } from '#kernel/stable-json.ts';
import type { Sandbox } from '#ports/sandbox.ts';
import type { CompiledFunction } from '../compiler/compile.ts';
import { CommandFailure, exitCodes } from '../exit.ts';
import { mocksPath, type Mocks } from '../mocks/mocks.ts';
import { replayRun } from '../testing/replay-run.ts';
import { Journal, type Batch } from './journal.ts';
import type { DryRunResult, DryRunRequest, DryRunSession } from './session.ts';
import type { FinishedRun } from './show.ts';

/** Writes input, calls and results of the run, for `svc generate:tests`. Resolves with the file's path. */
export async function saveMocks(
  root: string,
  session: DryRunSession,
  order: DryRunRequest,
  end: DryRunResult,
): Promise<string> {
  const { fn, connectionId, input, stubs } = order;
  const { integrationKey, name } = fn.entry;
  const { journal } = session;
  const connection = await session.connections.connection({ integrationKey, connectionId });
  const { provider } = connection;
  const metadata = stubs.metadata ?? objectOf(connection.metadata);
  const mocks: Mocks = {
    ...(input === undefined ? {} : { input }),
    ...(end.output === undefined ? {} : { output: end.output }),
    run: {
      provider,
      variant: stubs.variant,
      lastSyncDate: stubs.lastSyncDate,
      paginate: await session.connections.pagination(provider),
    },
    svc: {
      getConnection: withoutSecrets(objectOf({ ...connection, metadata })),
      getMetadata: metadata,
      getCheckpoint: stubs.checkpoint,
      batchSave: journal.recordsOf('save'),
      batchUpdate: journal.recordsOf('update'),
      batchDelete: journal.recordsOf('delete'),
      calls: journal.calls,
    },
    api: journal.api,
    fetch: journal.fetched,
  };
  const file = mocksPath(integrationKey, name);
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), `${JSON.stringify(mocks, null, 2)}\n`);
  return file;
}

/** The credentials keep their names, for code that reads them, without their values. */
function withoutSecrets(connection: JsonObject): JsonObject {
  const { credentials } = connection;
  if (!isJsonObject(credentials)) return connection;
  return { ...connection, credentials: masked(credentials) };
}

function masked(credentials: JsonObject): JsonObject {
  const entries = Object.entries(credentials).map(([key, value]): [string, Json] => {
    if (key === 'type' || value === null) return [key, value];
    return [key, isJsonObject(value) ? masked(value) : 'masked'];
  });
  return Object.fromEntries(entries);
}

/**
 * Runs the function against the saved data of `svc dryrun --save`.
 * @throws CommandFailure if nothing was saved
 */
export async function replaySaved(
  root: string,
  sandbox: Sandbox,
  fn: CompiledFunction,
  signal: AbortSignal,
): Promise<FinishedRun> {
  const { entry, bundle, definition } = fn;
  const file = mocksPath(entry.integrationKey, entry.name);
  if (!existsSync(join(root, file))) {
    const message = `${file} does not exist: create it with svc dryrun ${entry.name} <connection> --save`;
    throw new CommandFailure(message, { exitCode: exitCodes.dryRunFailed });
  }
  const mocks = parseRawJson(readFileSync(join(root, file), 'utf8')) as Mocks;
  const run = { entry, bundle, models: Object.keys(definition.models) };
  const { output, failure, ...written } = await replayRun(sandbox, run, mocks, signal);
  const batches = new Journal();
  for (const [kind, records] of [
    ['save', written.batchSave],
    ['update', written.batchUpdate],
    ['delete', written.batchDelete],
  ] as const) {
    batches.batches.push(...batchesOf(kind, records as Record<string, JsonObject[]>, mocks));
  }
  return { kind: entry.kind, end: { output, failure, violation: null }, batches };
}

/** One for each model: a replay does not record which call brought which record. */
const batchesOf = (
  kind: Batch['kind'],
  records: Readonly<Record<string, readonly JsonObject[]>>,
  { run: { variant } }: Mocks,
): Batch[] =>
  Object.entries(records).map(([model, modelRecords]) => ({
    kind,
    model,
    variant,
    records: modelRecords,
  }));
