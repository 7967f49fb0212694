import { createAction } from 'svc';
import { z } from 'zod';

const notFound = 404;
const conflict = 409;

interface FolderAccess {
  id: string;
  webViewLink?: string;
}

const params = { supportsAllDrives: true, fields: 'id,webViewLink' };

const action = createAction({
  description: 'Creates a folder',
  version: '1.0.1',
  scopes: ['https://www.googleapis.com/auth/drive.file'],
  input: z.object({
    name: z.string().min(1),
    /** Default: the top of the drive of the person. */
    parent_id: z.string().optional(),
  }),
  output: z.object({ id: z.string(), url: z.string().nullable() }),

  exec: async (svc, { name, parent_id: parent }) => {
    // With an id of its own a repeated attempt creates no second folder.
    const generated = await svc.get<{ ids: [string] }>({
      endpoint: '/files/generateIds',
      params: { count: 1, space: 'drive' },
      retries: 3,
    });
    const [id] = generated.data.ids;
    try {
      const { data } = await svc.post<FolderAccess>({
        endpoint: '/files',
        params,
        data: {
          id,
          name,
          mimeType: 'application/vnd.google-apps.folder',
          parents: parent === undefined ? undefined : [parent],
        },
        retries: 3,
      });
      return { id: data.id, url: data.webViewLink ?? null };
    } catch (error) {
      const { status } = (error as { response?: { status?: number } }).response ?? {};
      if (status === conflict) {
        // An earlier attempt created it, although its response was lost.
        const { data } = await svc.get<FolderAccess>({
          endpoint: `/files/${id}`,
          params,
          retries: 3,
        });
        return { id: data.id, url: data.webViewLink ?? null };
      }
      if (status !== notFound) throw error;
      const message = `There is no folder ${parent ?? ''}, or the app may not see it`;
      throw new svc.ActionError({ type: 'parent_not_found', message });
    }
  },
});

export default action;
