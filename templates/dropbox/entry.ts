import { z } from 'zod';
import { File } from '../models/files.js';

/** An entry of a folder as Dropbox returns it. */
export const DropboxEntry = z.object({
  '.tag': z.enum(['file', 'folder', 'deleted']),
  name: z.string(),
  /** Not of a deleted entry. */
  id: z.string().optional(),
  path_lower: z.string(),
  path_display: z.string(),
  /** Bytes. */
  size: z.number().optional(),
  server_modified: z.string().optional(),
});
export type DropboxEntry = z.infer<typeof DropboxEntry>;

/** A file whose `id` is its path in lower case: by that alone Dropbox reports what was deleted. */
export const DropboxFile = File.extend({
  /** Stays the same when the file is moved. */
  file_id: z.string().nullable(),
});
export type DropboxFile = z.infer<typeof DropboxFile>;

export const fileOf = (entry: DropboxEntry): DropboxFile => ({
  id: entry.path_lower,
  name: entry.name,
  type: entry['.tag'] === 'folder' ? 'folder' : 'file',
  mime_type: null,
  size: entry.size ?? null,
  parent_id: entry.path_lower.slice(0, entry.path_lower.lastIndexOf('/')) || null,
  path: entry.path_display,
  url: null,
  created_by: null,
  created_at: null,
  updated_at: entry.server_modified ?? null,
  file_id: entry.id ?? null,
});

interface Changes {
  /** Paths that are gone, with everything below them. */
  removed: ReadonlySet<string>;
  saved: DropboxEntry[];
  /** Paths of files: where a folder stood, nothing is below it any more. */
  files: ReadonlySet<string>;
}

/** What entries come to in their order: something may be deleted and made again. */
export function changesOf(entries: readonly DropboxEntry[]): Changes {
  const removed = new Set<string>();
  const saved = new Map<string, DropboxEntry>();
  const files = new Set<string>();
  for (const entry of entries) {
    const path = entry.path_lower;
    // A file replaces a folder with all that is below it; a folder leaves it as it is.
    if (entry['.tag'] !== 'folder')
      for (const other of saved.keys()) if (isAtOrBelow(other, path)) saved.delete(other);
    if (entry['.tag'] === 'deleted') removed.add(path);
    else saved.set(path, entry);
    if (entry['.tag'] === 'file') files.add(path);
  }
  return { removed, saved: [...saved.values()], files };
}

export const isAtOrBelow = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(`${folder}/`);
