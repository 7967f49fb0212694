import { constants, existsSync } from 'node:fs';
import {
  chmod,
  copyFile,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readlink,
  rm,
  symlink,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { shareDirectory } from '#adapters/event-log/embedded/tables.ts';
import { CannotStart } from '#kernel/cannot-start.ts';
import { GatewayError } from '#kernel/errors.ts';
import { overridden } from '#kernel/overridden.ts';
import { readOnlyRefusal } from '#kernel/read-only.ts';
import type { EventLog } from '#ports/event-log.ts';
import { copied, foldersOf, isFilled, makeFolders, type Folders } from './folders.ts';

const mib = 1024 ** 2;

/** The lock is taken on the original, and SQLite makes a new index of the write-ahead file. */
const isLeftOut = (name: string): boolean =>
  name.startsWith('lock.sqlite') || name.endsWith('-shm');

/**
 * The folders of a process that only reads (SVC_READ_ONLY): copies of what opening writes to, so that the data folder may be
 * mounted read-only and stays as it is. Recovery of the log after a crash writes into its file, and the tables and views
 * catch up with the log. Where the file system can, a copy shares the blocks of its file. The data folder is held against
 * processes that write until the stack is closed.
 * @throws CannotStart without room for the copies; GatewayError `conflict` while another process writes the folder
 */
export async function copyFolders(stack: AsyncDisposableStack, folders: Folders): Promise<Folders> {
  const { log, views, tables, rootKeyFile } = folders;
  const root = await mkdtemp(join(tmpdir(), 'svc-read-only-'));
  stack.defer(() => rm(root, { recursive: true, force: true }));
  const inCopy = foldersOf(root);
  makeFolders(inCopy);
  const own = { ...inCopy, rootKeyFile };
  const isWhole = isFilled(log);
  // An interrupted replacement: what was derived from the former log is not of the one that replaces it.
  const source = isWhole ? log : copied(log);
  if (existsSync(join(source, 'lock.sqlite'))) stack.use(shareDirectory(source));
  const pairs = [
    [source, own.log],
    ...(isWhole ? [[views, own.views] as const, [tables, own.tables] as const] : []),
  ] as const;
  try {
    for (const [from, to] of pairs) if (existsSync(from)) await copyFolder(from, to);
  } catch (cause) {
    throw isFull(cause)
      ? await noRoom(
          pairs.map(([from]) => from),
          cause,
        )
      : cause;
  }
  return own;
}

/** The modes of a read-only folder are not copied: the copies are written to. */
async function copyFolder(from: string, to: string, top = { from, to }): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    if (isLeftOut(entry.name)) continue;
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await copyFolder(source, target, top);
    else if (entry.isSymbolicLink()) await symlink(await linkWithin(source, top), target);
    else if (entry.isFile()) {
      await copyFile(source, target, constants.COPYFILE_FICLONE);
      await chmod(target, 0o600);
    }
  }
}

/** The target of a link, in the copy where it leads into the folder that is copied. */
async function linkWithin(
  link: string,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<string> {
  const target = await readlink(link);
  if (!isAbsolute(target)) return target;
  const inner = relative(from, resolve(dirname(link), target));
  return inner === '..' || inner.startsWith(`..${sep}`) ? target : join(to, inner);
}

const isFull = (error: unknown): boolean =>
  ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '');

async function noRoom(folders: readonly string[], cause: unknown): Promise<CannotStart> {
  const sizes = await Promise.all(
    folders.map(async (folder) => [folder, await sizeOf(folder)] as const),
  );
  const listed = sizes.map(
    ([folder, bytes]) => `${basename(folder)} ${Math.ceil(bytes / mib)} MiB`,
  );
  const message = `SVC_READ_ONLY: ${tmpdir()} has no room for a private copy of the data folder (${listed.join(', ')}). Set TMPDIR to a folder with more room, or to one on the file system of the data folder if that can share blocks between files.`;
  return new CannotStart(message, { cause });
}

async function sizeOf(folder: string): Promise<number> {
  if (!existsSync(folder)) return 0;
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const sizes = entries
    .filter((entry) => entry.isFile() && !isLeftOut(entry.name))
    .map(async (entry) => (await lstat(join(entry.parentPath, entry.name))).size);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

/**
 * The log of a process that only reads: whatever would change it, or move the position of a group, is refused with
 * `read_only`. Topics must exist.
 */
export function readOnlyLog(log: EventLog): EventLog {
  const refuse = (): Promise<never> => Promise.reject(readOnlyRefusal());
  return overridden(log, {
    async ensureTopics(specs) {
      for (const { name, partitions } of specs) {
        const found = await log.partitions(name);
        if (found === partitions) continue;
        const message = `The topic ${name} has ${found} partitions instead of ${partitions}.`;
        throw new GatewayError('conflict', { message });
      }
    },
    append: refuse,
    openWriter: refuse,
    join: refuse,
    commit: refuse,
    deleteBefore: refuse,
  });
}
