import { createAction } from 'svc';
import { z } from 'zod';

interface DropboxTag {
  '.tag'?: string;
}

interface Refusal {
  response?: {
    status?: number;
    data?: { error?: { path?: DropboxTag & { conflict?: DropboxTag } } };
  };
}

const conflict = 409;

const action = createAction({
  description:
    'Creates a folder. Where the response to a first attempt was lost, the second is refused as path_exists',
  version: '1.0.2',
  scopes: ['files.content.write'],
  input: z.object({
    /** From the top: `/Plans/2026`. */
    path: z.string().regex(/^\/./),
  }),
  output: z.object({ id: z.string(), path: z.string() }),

  exec: async (svc, { path }) => {
    try {
      const { data } = await svc.post<{ metadata: { id: string; path_display: string } }>({
        endpoint: '/2/files/create_folder_v2',
        data: { path, autorename: false },
        retries: 3,
      });
      return { id: data.metadata.id, path: data.metadata.path_display };
    } catch (error) {
      const { status, data } = (error as Refusal).response ?? {};
      const reason = data?.error?.path;
      if (status !== conflict || reason?.['.tag'] !== 'conflict') throw error;
      if (reason.conflict?.['.tag'] === 'file_ancestor') {
        const message = `A file stands where ${path} needs a folder`;
        throw new svc.ActionError({ type: 'parent_is_file', message });
      }
      const message = `There is something at ${path} already`;
      throw new svc.ActionError({ type: 'path_exists', message });
    }
  },
});

export default action;
