import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseRawJson } from '#kernel/exact-json.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import type { Sandbox } from '#ports/sandbox.ts';
import type { CompiledFunction } from '../compiler/compile.ts';
import { CommandFailure, exitCodes } from '../exit.ts';
import { mocksPath, type Mocks } from '../mocks/mocks.ts';
import { replayRun } from '../testing/replay-run.ts';
import { Journal, type Batch } from './journal.ts';
import type { FinishedRun } from './show.ts';

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
