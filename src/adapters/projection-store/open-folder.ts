import { existsSync } from 'node:fs';
import { mkdir, readdir, readlink, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { limits } from '#kernel/limits.ts';
import type { DamagedPart, ProjectionStore, QueryableStore } from '#ports/projection-store.ts';
import { damagedParts, misplacedPart, tableSizes } from './check-parts.ts';

/** Its message is a whole sentence that names the folder and the fix. */
export class UnusableFolder extends Error {
  override readonly name = 'UnusableFolder';
}

/** Called when corrupt tables of the folder were replaced by empty ones. */
export type OnTablesDamaged = (corruption: {
  readonly folder: string;
  readonly reason: string;
}) => void;

/**
 * Opens the tables of a folder. Corrupt ones are replaced by empty ones, which projectors fill from the log.
 * @throws UnusableFolder
 */
export async function openFolder(
  folder: string,
  open: () => Promise<QueryableStore>,
  onDamaged: OnTablesDamaged,
): Promise<QueryableStore> {
  const aside = `${folder}.damaged`;
  // A start that replaced the tables and was killed leaves the corrupt ones behind.
  await rm(aside, { recursive: true, force: true });
  const store = await open().catch(() => null);
  if (store === null && isHeld(folder)) {
    const message = `The tables in ${folder} are in use by another process. Stop that one, or choose another folder.`;
    throw new UnusableFolder(message);
  }
  const reason = store === null ? 'they cannot be opened' : await corruptionOf(store, folder);
  if (store !== null && reason === null) return store;
  await store?.[Symbol.asyncDispose]();
  const made = await replaced(folder, aside, open);
  onDamaged({ folder, reason: reason ?? '' });
  await rm(aside, { recursive: true });
  return made;
}

async function replaced(
  folder: string,
  aside: string,
  open: () => Promise<QueryableStore>,
): Promise<QueryableStore> {
  try {
    await rename(folder, aside);
    await mkdir(folder, { mode: 0o700 });
    return await open();
  } catch (cause) {
    // The cause may be a full disk and not corruption: the next start may find them intact.
    if (existsSync(aside)) {
      await rm(folder, { recursive: true, force: true });
      await rename(aside, folder);
    }
    const message = `The tables in ${folder} can neither be opened nor rebuilt. Check that its disk has room and that this user may write to it, or delete what is in it while the service is stopped: it is filled again from the log.`;
    throw new UnusableFolder(message, { cause });
  }
}

/** The engine's lock file exists while a process has the folder open; a failed start leaves none. */
const isHeld = (folder: string): boolean => existsSync(join(folder, 'status'));

/** Corruption that the engine does not see, or ignores, when it opens the folder; null = none. */
async function corruptionOf(store: ProjectionStore, folder: string): Promise<string | null> {
  const [broken] = await store.queryRows<{ table: string; name: string }>(
    `SELECT table, name FROM system.detached_parts
     WHERE database = currentDatabase() AND startsWith(reason, 'broken') LIMIT 1`,
  );
  if (broken !== undefined) return `the part ${broken.name} of ${broken.table} is broken`;
  const tables = await store.queryRows<{ name: string; data_paths: readonly string[] }>(
    'SELECT name, data_paths FROM system.tables WHERE database = currentDatabase()',
  );
  const rowsOf = new Map(tables.map(({ name, data_paths: [path = ''] }) => [name, basename(path)]));
  for (const [table, rows] of await linkedRows(folder)) {
    if (rowsOf.get(table) !== rows) return `the definition of ${table} is missing or different`;
  }
  const damaged = await damagedPartOfAny(store);
  return damaged === null
    ? null
    : `the part ${damaged.part} of ${damaged.table} is damaged: ${damaged.reason}`;
}

/** Looks at every file of small tables; large ones are checked after the start (`watchCorruption`). */
async function damagedPartOfAny(store: ProjectionStore): Promise<DamagedPart | null> {
  for (const table of await tableSizes(store)) {
    const [damaged = null] =
      table.bytes <= limits.tableCheckedAtStartBytes
        ? await damagedParts(store, table.name)
        : [await misplacedPart(store, table)];
    if (damaged !== null) return damaged;
  }
  return null;
}

/** By table, the original folder of its rows. */
async function linkedRows(folder: string): Promise<readonly (readonly [string, string])[]> {
  const links = join(folder, 'data', 'default');
  if (!existsSync(links)) return [];
  const entries = await readdir(links, { withFileTypes: true });
  const tables = entries.filter((entry) => entry.isSymbolicLink()).map(({ name }) => name);
  return Promise.all(
    tables.map(async (table) => [table, basename(await readlink(join(links, table)))] as const),
  );
}
