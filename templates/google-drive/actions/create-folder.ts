import { createAction } from 'svc';
import { z } from 'zod';

const notFound = 404;

const action = createAction({
  description: 'Creates a folder',
  version: '1.0.0',
  scopes: ['https://www.googleapis.com/auth/drive.file'],
  input: z.object({
    name: z.string().min(1),
    /** Default: the top of the drive of the person. */
    parent_id: z.string().optional(),
  }),
  output: z.object({ id: z.string(), url: z.string().nullable() }),

  exec: async (svc, { name, parent_id: parent }) => {
    try {
      const { data } = await svc.post<{ id: string; webViewLink?: string }>({
        endpoint: '/files',
        params: { supportsAllDrives: true, fields: 'id,webViewLink' },
        data: {
          name,
          mimeType: 'application/vnd.google-apps.folder',
          parents: parent === undefined ? undefined : [parent],
        },
        retries: 3,
      });
      return { id: data.id, url: data.webViewLink ?? null };
    } catch (error) {
      const { status } = (error as { response?: { status?: number } }).response ?? {};
      if (status !== notFound) throw error;
      const message = `There is no folder ${parent ?? ''}, or the app may not see it`;
      throw new svc.ActionError({ type: 'parent_not_found', message });
    }
  },
});

export default action;
