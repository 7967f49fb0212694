import { createAction } from 'svc';
import { z } from 'zod';

interface Refusal {
  response?: { status?: number; data?: { message?: string } };
}

const types: Readonly<Record<number, string>> = {
  403: 'missing_permission',
  404: 'channel_not_found',
};

/** A nonce has up to 25 characters. */
const randomNonce = () => crypto.randomUUID().replaceAll('-', '').slice(0, 25);

const action = createAction({
  description: 'Sends a message to a channel; of its mentions, those of users alone notify',
  version: '1.0.1',
  input: z.object({
    channel_id: z.string().min(1),
    content: z.string().min(1).max(2000),
    /** The message of the same channel that it replies to. */
    reply_to: z.string().min(1).optional(),
    /** Discord sends one message for a key within a few minutes, however often it is asked. */
    idempotency_key: z.string().min(1).max(25).optional(),
  }),
  output: z.object({ id: z.string() }),

  exec: async (
    svc,
    { channel_id: channelId, content, reply_to: replyTo, idempotency_key: key },
  ) => {
    try {
      const { data } = await svc.post<{ id: string }>({
        endpoint: `/channels/${channelId}/messages`,
        data: {
          content,
          allowed_mentions: { parse: ['users'] },
          message_reference: replyTo === undefined ? undefined : { message_id: replyTo },
          nonce: key ?? randomNonce(),
          enforce_nonce: true,
        },
        retries: 3,
      });
      return { id: data.id };
    } catch (error) {
      const { status = 0, data } = (error as Refusal).response ?? {};
      const type = types[status];
      if (type === undefined) throw error;
      const message = data?.message ?? 'Discord refuses the message';
      throw new svc.ActionError({ type, message });
    }
  },
});

export default action;
