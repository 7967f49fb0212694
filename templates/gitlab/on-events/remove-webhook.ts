import { createOnEvent } from 'svc';
import { z } from 'zod';
import { isGone } from '../../shared/webhooks.js';

const methodNotAllowed = 405;

const onEvent = createOnEvent({
  description: 'Removes the webhook of a connection that is deleted',
  version: '1.0.1',
  event: 'pre-connection-deletion',
  metadata: z.object({
    project: z.string(),
    webhookId: z.string().optional(),
    webhookSecret: z.string().optional(),
  }),

  exec: async (svc) => {
    const { webhookId, project } = await svc.getMetadata();
    if (webhookId === undefined) return;
    const path = encodeURIComponent(project);
    const removeFrom = (id: string) =>
      svc.delete({ endpoint: `/api/v4/projects/${id}/hooks/${webhookId}`, retries: 3 });
    try {
      await removeFrom(path).catch(async (error: unknown) => {
        const { status } = (error as { response?: { status?: number } }).response ?? {};
        if (status !== methodNotAllowed) throw error;
        // GitLab refuses all but reads by the old path of a project that was moved or renamed.
        const endpoint = `/api/v4/projects/${path}`;
        const { data } = await svc.get<{ id: number }>({ endpoint, retries: 3 });
        await removeFrom(String(data.id));
      });
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  },
});

export default onEvent;
