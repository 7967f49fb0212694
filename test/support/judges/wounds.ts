import { cp, mkdir, open, readdir, readFile, rm, stat, truncate } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { CrmWorld } from '../worlds/crm-world.ts';
import type { Random } from './random.ts';

/** Kinds of files of a data folder with its snapshots and backups (`data/`, `snapshots/`, `backups/`), and their paths. */
const kindsOfFiles = {
  'log file': /^data\/log\/log\.sqlite$/,
  'write-ahead file': /^data\/log\/log\.sqlite-wal$/,
  'acknowledged ends': /^data\/log\/acknowledged-ends$/,
  'keys and locks': /^data\/(?:root\.key|log\/(?:row-keys|lock\.|log\.sqlite-shm))/,
  'state of records': /^data\/state\/records\//,
  'state of the control plane': /^data\/state\/control\//,
  views: /^data\/views\//,
  'data of tables': /^data\/clickhouse\/.*\/data\.bin$/,
  'files of tables': /^data\/clickhouse\//,
  snapshots: /^snapshots\//,
  'files of backups': /^backups\/.*\.(?:json|log)$/,
} as const;

export type KindOfFile = keyof typeof kindsOfFiles;

/** Damage to one file, drawn from a seed. */
export interface Wound {
  readonly kind: KindOfFile;
  /** Path below the folder. */
  readonly file: string;
  readonly way: 'flipped bit' | 'zeroed bytes' | 'cut' | 'deleted';
  /** First byte that changes; 0 where the file is deleted. */
  readonly position: number;
  /** What is needed to inflict it: the mask of the bit, or how many bytes become zero. */
  readonly amount: number;
}

/** The files that can be wounded, by kind: each file is of the first kind that it matches. */
export async function filesByKind(folder: string): Promise<ReadonlyMap<KindOfFile, string[]>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const found = new Map<KindOfFile, string[]>();
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const file = relative(folder, path);
    const kind = kinds.find((one) => kindsOfFiles[one].test(file));
    if (kind === undefined || (await stat(path)).size === 0) continue;
    found.set(kind, [...(found.get(kind) ?? []), file].sort());
  }
  return found;
}

const kinds = Object.keys(kindsOfFiles) as KindOfFile[];

export async function drawWound(random: Random, folder: string): Promise<Wound> {
  const files = await filesByKind(folder);
  const kind = random.pick(kinds.filter((one) => files.has(one)));
  const file = random.pick(files.get(kind)!);
  const { size } = await stat(join(folder, file));
  const way = random.pick([
    'flipped bit',
    'flipped bit',
    'zeroed bytes',
    'cut',
    'deleted',
  ] as const);
  const amount = way === 'flipped bit' ? 1 << random.int(8) : 1 + random.int(512);
  let position = way === 'deleted' ? 0 : random.int(size);
  if (way === 'zeroed bytes') {
    const bytes = await readFile(join(folder, file));
    const isFilled = (at: number) => bytes.subarray(at, at + amount).some((byte) => byte !== 0);
    // Zeros over zeros wound nothing.
    for (let draws = 0; draws < 50 && !isFilled(position); draws += 1) position = random.int(size);
  }
  return { kind, file, way, position, amount };
}

export async function inflict(folder: string, wound: Wound): Promise<void> {
  const { file, way, position, amount } = wound;
  const path = join(folder, file);
  if (way === 'deleted') return rm(path);
  if (way === 'cut') return truncate(path, position);
  if (way === 'flipped bit') return xorByte(path, position, amount);
  await using handle = await open(path, 'r+');
  const { bytesRead } = await handle.read(Buffer.alloc(amount), 0, amount, position);
  await handle.write(Buffer.alloc(bytesRead), 0, bytesRead, position);
}

/** Changes the bits of one byte that the mask has. */
export async function xorByte(path: string, position: number, mask: number): Promise<void> {
  await using handle = await open(path, 'r+');
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, position);
  await handle.write(Buffer.of(buffer[0]! ^ mask), 0, 1, position);
}

/** One bit of each compressed block, so that every read of the file meets a damaged one. */
export async function flipEveryBlock(path: string): Promise<void> {
  const bytes = await readFile(path);
  for (let start = 0; start < bytes.length;) {
    // A checksum of 16 bytes, a byte for the method, and the size without the checksum.
    const end = start + 16 + bytes.readUInt32LE(start + 17);
    await xorByte(path, end - 1, 1);
    start = end;
  }
}

export async function copyFolder(source: string, target: string): Promise<void> {
  await rm(target, { recursive: true, force: true });
  await mkdir(dirname(target), { recursive: true });
  await cp(source, target, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
}

/** Starts the gateway over a copy of the folder that `damage` was done to. */
export async function restartOver(
  world: CrmWorld,
  source: string,
  damage: (dataDir: string) => Promise<void>,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  await world.restart(async (dataDir) => {
    await copyFolder(source, dataDir);
    await damage(dataDir);
  }, env);
}

export const textOfWound = ({ kind, file, way, position, amount }: Wound): string => {
  const detail = {
    'flipped bit': ` ${amount}`,
    'zeroed bytes': ` ${amount}`,
    cut: '',
    deleted: '',
  };
  return `${kind}: ${file}, ${way}${detail[way]} at ${position}`;
};
