import { createAction } from 'svc';
import { z } from 'zod';

const recipientOf = (address: string) => ({ emailAddress: { address } });

const action = createAction({
  description: 'Sends a message; a copy is saved in the sent items',
  version: '1.0.0',
  scopes: ['Mail.Send'],
  input: z.object({
    to: z.array(z.email()).min(1),
    cc: z.array(z.email()).optional(),
    subject: z.string(),
    body: z.string(),
    is_html: z.boolean().optional(),
  }),
  /** Outlook names no message: it accepts the task. */
  output: z.object({ is_accepted: z.literal(true) }),

  exec: async (svc, input) => {
    await svc.post({
      endpoint: '/v1.0/me/sendMail',
      data: {
        message: {
          subject: input.subject,
          body: { contentType: input.is_html === true ? 'HTML' : 'Text', content: input.body },
          toRecipients: input.to.map(recipientOf),
          ccRecipients: input.cc?.map(recipientOf),
        },
        saveToSentItems: true,
      },
      retries: 3,
    });
    return { is_accepted: true as const };
  },
});

export default action;
