import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GatewayError } from '#kernel/errors.ts';
import type { Cleanup } from '#ports/event-log.ts';

export interface PartitionFile {
  readonly partition: number;
  /** Relative to the folder. */
  readonly file: string;
  /** Offsets in the exported log. */
  readonly start: number;
  readonly end: number;
  readonly messages: number;
  readonly bytes: number;
}

export interface TopicFiles {
  readonly name: string;
  readonly partitions: number;
  readonly cleanup: Cleanup;
  /** File of the Avro schema of all values, and its schema id. */
  readonly schema: { readonly file: string; readonly id: number };
  readonly files: readonly PartitionFile[];
}

/** The content of `manifest.json` of an exported log. */
export interface Manifest {
  readonly format: 1;
  /** Version of the service that wrote it. */
  readonly version: string;
  readonly made_at: string;
  readonly topics: readonly TopicFiles[];
  /** Committed positions: offsets in the exported log. */
  readonly groups: readonly {
    readonly group: string;
    readonly topic: string;
    readonly positions: Readonly<Record<string, number>>;
  }[];
}

const name = 'manifest.json';

/** Written last: a folder without it is not a complete export. */
export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  await writeFile(join(folder, name), `${JSON.stringify(manifest, null, 2)}\n`, { flag: 'wx' });
}

/** @throws GatewayError `invalid_request` for a folder that is not an export */
export async function readManifest(folder: string): Promise<Manifest> {
  let manifest: Partial<Manifest>;
  try {
    manifest = JSON.parse(await readFile(join(folder, name), 'utf8')) as Partial<Manifest>;
  } catch (cause) {
    const message = `${folder} has no ${name} that can be read: it is no export, or one that was not finished.`;
    throw new GatewayError('invalid_request', { message }, { cause });
  }
  if (manifest.format === 1) return manifest as Manifest;
  const message = `${folder} has the format ${String(manifest.format)}; this release reads format 1.`;
  throw new GatewayError('invalid_request', { message });
}
