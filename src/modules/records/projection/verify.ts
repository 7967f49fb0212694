import type { ProjectionStore } from '#ports/projection-store.ts';
import { type TableSet, dropTables } from '#streams/projector/define.ts';
import { Positions } from '#streams/projector/positions.ts';
import type { VerifiedPart } from '#streams/projector/projection-state.ts';
import { createHighWatermarks } from '../read/high-watermarks.ts';
import { recordTables } from '../read/tables.ts';
import { comparePartition } from './compare.ts';
import { records } from './definition.ts';
import { startProjector, type ProjectorDeps } from './projector.ts';

type VerifyDeps = Pick<
  ProjectorDeps,
  'log' | 'store' | 'codec' | 'clock' | 'logger' | 'partitions'
>;

/**
 * Compares two generations at the same offsets of the log, while both are filled and read: copies of their tables
 * (which share the files) are filled from the stored positions to the current end of the topic, and compared. Rows that
 * a copy has already are written again, which changes nothing.
 * @throws GatewayError `projection_unavailable`, `log_unavailable`: retry is safe
 */
export async function verifyGeneration(
  deps: VerifyDeps,
  { expected, found }: { readonly expected: number; readonly found: number },
  signal: AbortSignal,
): Promise<Readonly<Record<string, VerifiedPart>>> {
  const { log, store, partitions } = deps;
  const parts: Record<string, VerifiedPart> = {};
  const generations = [expected, found];
  try {
    for (const generation of generations) await copy(deps, generation, signal);
    const until = new Map<number, number>();
    for (let partition = 0; partition < partitions; partition++) {
      until.set(partition, await log.endOffset(records.topic, partition));
    }
    for (const generation of generations) await feed(deps, generation, until, signal);
    for (const [partition, position] of until) {
      signal.throwIfAborted();
      const [first, second] = [recordTables(expected, 'compare'), recordTables(found, 'compare')];
      parts[partition] = await comparePartition(store, first, second, { partition, position });
    }
    return parts;
  } finally {
    // A repeated comparison drops them first, and may have done so already.
    if (!signal.aborted) for (const generation of generations) await dropCopies(store, generation);
  }
}

/** Removes the tables that a comparison copied, if there are any. */
export async function dropCopies(store: ProjectionStore, generation: number): Promise<void> {
  await dropTables(store, records.tableSet(generation, 'compare'));
}

/** Not recorded: copies are temporary. */
async function makeTables(store: ProjectionStore, set: TableSet): Promise<void> {
  for (const step of set.migrations.flatMap(({ steps }) => steps)) {
    await (typeof step === 'string' ? store.command(step) : store.create(step));
  }
}

/** The current tables, and positions that they have certainly reached. */
async function copy(deps: VerifyDeps, generation: number, signal: AbortSignal): Promise<void> {
  const { store, clock } = deps;
  const original = records.tableSet(generation);
  const copied = records.tableSet(generation, 'compare');
  await dropTables(store, copied);
  await makeTables(store, copied);
  // Read before the rows are copied: they may be ahead of their position, never behind it.
  const stored = await new Positions(store, original.name).load();
  for (const [at, table] of original.tables.entries()) {
    for (const partition of stored.keys()) {
      signal.throwIfAborted();
      await store.command(
        `ALTER TABLE ${copied.tables[at] ?? ''} ATTACH PARTITION ${partition} FROM ${table}`,
      );
    }
  }
  const positions = new Positions(store, copied.name);
  await positions.load();
  await positions.save(
    [...stored.values()].map((position) => ({ ...position, atEndAt: clock.now() })),
  );
}

async function feed(
  deps: VerifyDeps,
  generation: number,
  until: ReadonlyMap<number, number>,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  const projector = await startProjector({
    ...deps,
    tables: records.tableSet(generation, 'compare'),
    watermarks: createHighWatermarks(),
    until,
    cleanupMin: Infinity,
    queryClass: () => 'build',
  });
  const stop = (): void => void projector[Symbol.asyncDispose]();
  signal.addEventListener('abort', stop, { once: true });
  try {
    await projector.stopped;
    signal.throwIfAborted();
  } finally {
    signal.removeEventListener('abort', stop);
    await projector[Symbol.asyncDispose]();
  }
}
