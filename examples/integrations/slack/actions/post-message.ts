import { createAction } from 'svc';
import { z } from 'zod';

const action = createAction({
  description: 'Posts a message to a channel',
  version: '1.0.0',
  scopes: ['chat:write'],
  input: z.object({ channel: z.string(), text: z.string() }),
  output: z.object({ ts: z.string() }),

  exec: async (svc, input) => {
    const { data } = await svc.post<{ ok: boolean; ts?: string; error?: string }>({
      endpoint: '/chat.postMessage',
      data: input,
      retries: 3,
    });
    // The provider answers failures with 200.
    if (!data.ok || data.ts === undefined) {
      throw new svc.ActionError({ message: `Slack refused: ${data.error ?? 'no reason given'}` });
    }
    return { ts: data.ts };
  },
});

export default action;
