import { createHash } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { GatewayError } from '#kernel/errors.ts';
import type { Json } from '#kernel/stable-json.ts';
import { hourMs, systemClock } from '#kernel/time.ts';
import type { Manifest } from './manifest.ts';
import type { FramingSchema } from './source.ts';

/** The messages of a partition that a backup added, in its data file. */
export interface PartitionPart {
  readonly partition: number;
  /** First offset, and the one after the last. */
  readonly start: number;
  readonly end: number;
  readonly messages: number;
  /** Position in the file. */
  readonly position: number;
  readonly bytes: number;
  readonly sha256: string;
}

export interface TopicBackup {
  readonly name: string;
  readonly partitions: number;
  /** By partition, as of the backup: the first retained offset, and the one after the last. */
  readonly starts: readonly number[];
  readonly ends: readonly number[];
  /** Schemas that frame values of the parts. */
  readonly schemas: readonly FramingSchema[];
  readonly parts: readonly PartitionPart[];
}

export interface BackupRef {
  readonly id: string;
  /** Of its file. */
  readonly sha256: string;
}

/** One backup: what it added to the backups before it. */
export interface Backup {
  readonly format: 1;
  readonly id: string;
  /** Everything in it was committed before. */
  readonly made_at: string;
  /** Of the service that wrote it. */
  readonly version: string;
  /** Identity of the log. */
  readonly log: string;
  readonly previous: BackupRef | null;
  /** Relative to the folder. */
  readonly file: string;
  readonly bytes: number;
  readonly topics: readonly TopicBackup[];
  readonly groups: Manifest['groups'];
}

/** The content of `backups.json`: each backup, the oldest first. */
export type BackupList = readonly (BackupRef & { readonly made_at: string })[];

const listFile = 'backups.json';
export const dataFileOf = (id: string): string => `data/${id}.log`;
export const backupFileOf = (id: string): string => `backups/${id}.json`;
const readme = 'README.md';
const parts = [
  ['data', dataFileOf],
  ['backups', backupFileOf],
] as const;
/** A file that another process writes is younger. */
const abandonedMs = hourMs;

export const sha256 = (bytes: string | Uint8Array): string =>
  createHash('sha256').update(bytes).digest('hex');

/** A damaged or incomplete backup. @param detail what is wrong with which part of the file */
export const damaged = (file: string, detail: string, cause?: unknown): GatewayError => {
  const message = `The backup is damaged: ${file}, ${detail}. Copy the file from another copy of the backup, or restore an earlier backup of the folder (svc restore --at).`;
  return new DamagedBackup('log_corrupt', { message }, { cause });
};

/** The log that is backed up, or filled, is not what is damaged. */
export class DamagedBackup extends GatewayError {}

/** The folder of backups of one log. */
export class BackupFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** Creates what is missing, and removes what interrupted backups have left. */
  async prepare(list: BackupList): Promise<void> {
    for (const [name, fileOf] of parts) {
      const path = join(this.path, name);
      await mkdir(path, { recursive: true, mode: 0o700 });
      const listed = new Set(list.map(({ id }) => basename(fileOf(id))));
      for (const file of await readdir(path)) {
        if (listed.has(file)) continue;
        const { mtimeMs } = await stat(join(path, file));
        if (systemClock.now() - mtimeMs > abandonedMs) await rm(join(path, file));
      }
    }
    // From now on a missing list is damage.
    if (list.length === 0) await this.#write(listFile, withChecksum([]));
  }

  /** Empty for a new folder. @throws GatewayError `log_corrupt`, `invalid_request` for another folder */
  async list(): Promise<BackupList> {
    let text: string;
    try {
      text = await readFile(join(this.path, listFile), 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      return this.#listOfNew(error);
    }
    return checked(listFile, text) as BackupList;
  }

  /** @throws GatewayError `log_corrupt` */
  async read({ id, sha256: expected }: BackupRef): Promise<Backup> {
    const file = backupFileOf(id);
    const text = await readFile(join(this.path, file), 'utf8').catch((error: unknown) => {
      throw damaged(file, 'which cannot be read', error);
    });
    if (sha256(text) !== expected) throw damaged(file, 'which is not what was written');
    return checked(file, text) as Backup;
  }

  /** The backup and those that it continues, the oldest first. @throws GatewayError `log_corrupt` */
  async chain(last: BackupRef): Promise<readonly Backup[]> {
    const chain: Backup[] = [];
    for (let ref: BackupRef | null = last; ref !== null;) {
      const backup: Backup = await this.read(ref);
      chain.unshift(backup);
      ref = backup.previous;
    }
    return chain;
  }

  /** Adds the backup, whose data file is complete. @throws GatewayError `conflict` if another one was added meanwhile */
  async add(backup: Backup, list: BackupList): Promise<void> {
    const text = withChecksum(backup);
    await this.#write(backupFileOf(backup.id), text);
    if (JSON.stringify(await this.list()) !== JSON.stringify(list)) {
      const message = `${this.path} got another backup meanwhile: take one after the other.`;
      throw new GatewayError('conflict', { message });
    }
    const { id, made_at } = backup;
    await this.#write(listFile, withChecksum([...list, { id, made_at, sha256: sha256(text) }]));
    await this.#write(readme, readmeText);
  }

  /** A new file with the content that `write` gives it, complete or not there. */
  async writeData<T>(
    file: string,
    write: (append: (bytes: Uint8Array) => Promise<void>) => Promise<T>,
  ): Promise<T> {
    const path = join(this.path, file);
    const part = `${path}.part`;
    await using handle = await open(part, 'wx', 0o600);
    try {
      const written = await write((bytes) => handle.writeFile(bytes));
      await handle.sync();
      await rename(part, path);
      return written;
    } catch (error) {
      await rm(part, { force: true });
      throw error;
    }
  }

  async #write(file: string, text: string): Promise<void> {
    const path = join(this.path, file);
    const fresh = `${path}.new`;
    {
      await using handle = await open(fresh, 'w', 0o600);
      await handle.writeFile(text);
      await handle.sync();
    }
    await rename(fresh, path);
    await using folder = await open(join(path, '..'), 'r');
    await folder.sync();
  }

  async #hasFiles(name: string): Promise<boolean> {
    return (await readdir(join(this.path, name))).length > 0;
  }

  async #listOfNew(cause: unknown): Promise<BackupList> {
    const names = await readdir(this.path).catch((): string[] => []);
    const holdsBackups = names.includes('backups') && (await this.#hasFiles('backups'));
    if (holdsBackups) throw damaged(listFile, 'which is missing', cause);
    const others = names.filter((name) => !['backups', 'data', readme].includes(name));
    if (others.length === 0) return [];
    const message = `${this.path} holds other files (${others.slice(0, 3).join(', ')}): name an empty folder, or one with backups.`;
    throw new GatewayError('invalid_request', { message }, { cause });
  }
}

const withChecksum = (content: object): string =>
  `${JSON.stringify({ sha256: sha256(JSON.stringify(content)), content })}\n`;

function checked(file: string, text: string): unknown {
  let parsed: { readonly sha256?: string; readonly content?: Json };
  try {
    parsed = JSON.parse(text) as typeof parsed;
  } catch (error) {
    throw damaged(file, 'which cannot be read', error);
  }
  if (parsed.sha256 === sha256(JSON.stringify(parsed.content))) return parsed.content;
  throw damaged(file, 'which is not what was written');
}

const readmeText = `# Backups of the event log

Written by \`svc backup\`; restored into an empty log by \`svc restore <this folder> --at <time or id>\`.

- \`backups.json\`: the list of backups, the oldest first.
- \`backups/<id>.json\`: what a backup added, its offsets and checksums, and the backup that it continues.
- \`data/<id>.log\`: the messages that it added.

A backup needs the files of all backups before it. The root key is not here: keep it in another place.
`;
