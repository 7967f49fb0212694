import { createSync, type SvcSync } from 'svc';
import { z } from 'zod';
import { File } from '../../models/files.js';
import { pagesFrom } from '../../shared/page-tokens.js';
import { fileFields, fileOf, type GoogleFile } from '../file.js';

interface FilePage {
  files: GoogleFile[];
  nextPageToken?: string;
}

interface ChangePage {
  changes: { changeType?: string; fileId?: string; removed?: boolean; file?: GoogleFile }[];
  nextPageToken?: string;
  /** On the last page: where the next run begins. */
  newStartPageToken?: string;
}

const pageSize = 1000;

const models = { File };
/** Flat: an empty text is no position. */
const checkpoint = z.object({
  /** Of the list of changes. */
  changes: z.string(),
  /** The page of the list of all files at which an interrupted first run goes on. */
  files: z.string(),
  isListed: z.boolean(),
});
type Handle = SvcSync<typeof models, z.ZodObject, typeof checkpoint>;

const sync = createSync({
  description:
    'Files and folders of the person and those shared with the person: changed, trashed or removed since the last run',
  version: '1.0.1',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['https://www.googleapis.com/auth/drive.metadata.readonly'],
  models,
  checkpoint,

  exec: async (svc) => {
    const begin = await svc.getCheckpoint();
    if (begin?.isListed === true) {
      await readChanges(svc, begin.changes);
      return;
    }
    // Before the list: what changes while it is read is in the changes of the next run.
    const changes = begin?.changes ?? (await startToken(svc));
    await svc.trackDeletesStart('File');
    await readFiles(svc, changes, begin?.files ?? '');
    await svc.trackDeletesEnd('File');
    await svc.saveCheckpoint({ changes, files: '', isListed: true });
  },
});

async function startToken(svc: Handle): Promise<string> {
  const { data } = await svc.get<{ startPageToken: string }>({
    endpoint: '/changes/startPageToken',
    retries: 5,
  });
  return data.startPageToken;
}

async function readFiles(svc: Handle, changes: string, first: string): Promise<void> {
  const pages = pagesFrom(first, (pageToken) =>
    svc.get<FilePage>({
      endpoint: '/files',
      params: {
        q: 'trashed = false',
        fields: `nextPageToken,files(${fileFields})`,
        pageSize,
        pageToken,
      },
      retries: 5,
    }),
  );
  for await (const { page, pageToken } of pages) {
    await svc.batchSave(page.files.map(fileOf), 'File');
    if (pageToken !== '') await svc.saveCheckpoint({ changes, files: pageToken, isListed: false });
  }
}

async function readChanges(svc: Handle, first: string): Promise<void> {
  for (let pageToken: string | undefined = first; pageToken !== undefined;) {
    const { data }: { data: ChangePage } = await svc.get<ChangePage>({
      endpoint: '/changes',
      params: {
        fields: `nextPageToken,newStartPageToken,changes(changeType,fileId,removed,file(${fileFields}))`,
        pageSize,
        pageToken,
      },
      retries: 5,
    });
    const present = data.changes.flatMap(({ file }) => (file?.trashed === false ? [file] : []));
    const gone = data.changes.flatMap(({ fileId, removed, file }) =>
      fileId !== undefined && (removed === true || file?.trashed === true) ? [{ id: fileId }] : [],
    );
    await svc.batchSave(present.map(fileOf), 'File');
    await svc.batchDelete(gone, 'File');
    const next: string | undefined = data.nextPageToken ?? data.newStartPageToken;
    if (next !== undefined) await svc.saveCheckpoint({ changes: next, files: '', isListed: true });
    pageToken = data.nextPageToken;
  }
}

export default sync;
