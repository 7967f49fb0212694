import { createAction } from 'svc';
import { z } from 'zod';

/** Errors that the caller can act on. */
const refusals: Readonly<Record<string, string>> = {
  channel_not_found: 'There is no such channel, or the app may not see it',
  not_in_channel: 'The app was not added to the channel',
  is_archived: 'The channel is archived',
  msg_too_long: 'The text is too long',
};

const action = createAction({
  description: 'Sends a message to a channel or a person',
  version: '1.0.1',
  scopes: ['chat:write'],
  input: z.object({
    /** Id of the channel or user. */
    channel_id: z.string().min(1),
    /** With the markup of Slack, which cuts off what is longer. */
    text: z.string().min(1).max(40_000),
    /** Id of the message that is answered. */
    thread_id: z.string().optional(),
  }),
  output: z.object({
    /** Of the message in its channel. */
    id: z.string(),
    channel_id: z.string(),
  }),

  exec: async (svc, input) => {
    const { data } = await svc.post<{ ok: boolean; error?: string; channel: string; ts: string }>({
      endpoint: '/chat.postMessage',
      data: { channel: input.channel_id, text: input.text, thread_ts: input.thread_id },
      retries: 3,
    });
    if (data.ok) return { id: data.ts, channel_id: data.channel };
    const type = data.error ?? 'no reason';
    const message = refusals[type];
    if (message === undefined) throw new Error(`chat.postMessage: ${type}`);
    throw new svc.ActionError({ type, message });
  },
});

export default action;
