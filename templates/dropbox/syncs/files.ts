import { createSync, type SvcSync } from 'svc';
import { z } from 'zod';
import { changesOf, DropboxFile, fileOf, isAtOrBelow, type DropboxEntry } from '../entry.js';

interface Listing {
  entries: DropboxEntry[];
  /** Of the next page, or of the changes from now on. */
  cursor: string;
  has_more: boolean;
}

interface Refusal {
  response?: { status?: number; data?: { error?: { '.tag'?: string } } };
}

const conflict = 409;

const models = { File: DropboxFile };
type Handle = Pick<
  SvcSync<typeof models>,
  'batchDelete' | 'getRecordsByIds' | 'listRecords' | 'post'
>;

const sync = createSync({
  description:
    'All files and folders: those that were changed, moved or deleted since the last run',
  version: '1.0.1',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['files.metadata.read'],
  models,
  checkpoint: z.object({
    /** Of the page or of the changes with which the next request begins. */
    cursor: z.string(),
    /** Whether everything was read before. */
    isComplete: z.boolean(),
  }),

  exec: async (svc) => {
    const begin = (await svc.getCheckpoint()) ?? { cursor: '', isComplete: false };
    if (!begin.isComplete) await svc.trackDeletesStart('File');
    for (let { cursor } = begin, hasMore = true; hasMore;) {
      const page = await pageAt(svc, cursor);
      if (page === null) {
        // The next run reads everything, and finds what was deleted meanwhile.
        await svc.clearCheckpoint();
        return;
      }
      const { removed, saved, files } = changesOf(page.entries);
      const replaced = begin.isComplete ? await foldersAmong(svc, files) : [];
      await removePaths(svc, new Set([...removed, ...replaced]));
      await svc.batchSave(saved.map(fileOf), 'File');
      hasMore = page.has_more;
      cursor = page.cursor;
      if (!hasMore && !begin.isComplete) await svc.trackDeletesEnd('File');
      await svc.saveCheckpoint({ cursor, isComplete: begin.isComplete || !hasMore });
    }
  },
});

/** Null: Dropbox no longer knows the cursor. */
async function pageAt(svc: Handle, cursor: string): Promise<Listing | null> {
  const request =
    cursor === ''
      ? { endpoint: '/2/files/list_folder', data: { path: '', recursive: true, limit: 2000 } }
      : { endpoint: '/2/files/list_folder/continue', data: { cursor } };
  try {
    const { data } = await svc.post<Listing>({ ...request, retries: 5 });
    return data;
  } catch (error) {
    const { status, data } = (error as Refusal).response ?? {};
    if (status === conflict && data?.error?.['.tag'] === 'reset') return null;
    throw error;
  }
}

/** Paths at which a folder stood until now. */
async function foldersAmong(svc: Handle, paths: ReadonlySet<string>): Promise<string[]> {
  if (paths.size === 0) return [];
  const known = await svc.getRecordsByIds([...paths], 'File');
  return [...known.values()].filter(({ type }) => type === 'folder').map(({ id }) => id);
}

/** A deleted folder is reported alone: what lies below it goes too. */
async function removePaths(svc: Handle, paths: ReadonlySet<string>): Promise<void> {
  if (paths.size === 0) return;
  const gone: { id: string }[] = [];
  for await (const { id, _svc_metadata: metadata } of svc.listRecords('File')) {
    const isGone = [...paths].some((path) => isAtOrBelow(id, path));
    if (isGone && metadata.deleted_at === null) gone.push({ id });
  }
  await svc.batchDelete(gone, 'File');
}

export default sync;
