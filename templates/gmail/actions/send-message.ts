import { createAction } from 'svc';
import { z } from 'zod';

/** A word of a header, in which only ASCII may stand (RFC 2047). */
const encodedWord = (text: string): string =>
  /^[\x20-\x7e]*$/.test(text) ? text : `=?UTF-8?B?${Buffer.from(text).toString('base64')}?=`;

/** Lines of base64 have at most 76 characters (RFC 2045). */
const wrapped = (text: string): string => text.replaceAll(/.{76}(?=.)/g, '$&\r\n');

const action = createAction({
  description: 'Sends a message as the person',
  version: '1.0.0',
  scopes: ['https://www.googleapis.com/auth/gmail.send'],
  input: z.object({
    to: z.array(z.email()).min(1),
    cc: z.array(z.email()).optional(),
    /** One line. */
    subject: z.string().regex(/^[^\r\n]*$/),
    body: z.string(),
    is_html: z.boolean().optional(),
    /** Of the conversation that goes on. */
    thread_id: z.string().optional(),
  }),
  output: z.object({ id: z.string(), thread_id: z.string() }),

  exec: async (svc, input) => {
    const headers = [
      `To: ${input.to.join(', ')}`,
      ...(input.cc === undefined ? [] : [`Cc: ${input.cc.join(', ')}`]),
      `Subject: ${encodedWord(input.subject)}`,
      'MIME-Version: 1.0',
      `Content-Type: text/${input.is_html === true ? 'html' : 'plain'}; charset=utf-8`,
      'Content-Transfer-Encoding: base64',
    ];
    const body = wrapped(Buffer.from(input.body).toString('base64'));
    const message = [...headers, '', body].join('\r\n');
    const { data } = await svc.post<{ id: string; threadId: string }>({
      endpoint: '/gmail/v1/users/me/messages/send',
      data: { raw: Buffer.from(message).toString('base64url'), threadId: input.thread_id },
      retries: 3,
    });
    return { id: data.id, thread_id: data.threadId };
  },
});

export default action;
