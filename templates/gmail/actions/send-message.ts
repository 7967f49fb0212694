import { createAction } from 'svc';
import { z } from 'zod';

/** A word has at most 75 characters: nine of the text have at most 36 bytes. */
const wordParts = /.{1,9}/gsu;

/** Text of a header, in which only ASCII may stand, as encoded words (RFC 2047). */
const encodedWords = (text: string): string =>
  /^[\x20-\x7e]*$/.test(text)
    ? text
    : (text.match(wordParts) ?? [])
        .map((part) => `=?UTF-8?B?${Buffer.from(part).toString('base64')}?=`)
        .join('\r\n ');

/** Lines of base64 have at most 76 characters (RFC 2045). */
const wrapped = (text: string): string => text.replaceAll(/.{76}(?=.)/g, '$&\r\n');

/** Headers that name the message that is answered, and those before it (RFC 2822). */
const repliesOf = (ids: readonly string[]): string[] =>
  ids.length === 0 ? [] : [`In-Reply-To: ${ids.at(-1)}`, `References: ${ids.join('\r\n ')}`];

const action = createAction({
  description: 'Sends a message as the person',
  version: '1.1.0',
  scopes: ['https://www.googleapis.com/auth/gmail.send'],
  input: z.object({
    to: z.array(z.email()).min(1),
    cc: z.array(z.email()).optional(),
    /** One line. */
    subject: z.string().regex(/^[^\r\n]*$/),
    body: z.string(),
    is_html: z.boolean().optional(),
    /** Of the conversation that goes on: Gmail wants `replies_to` and the same subject too. */
    thread_id: z.string().optional(),
    /** Headers `Message-ID` of the conversation; the last one is answered. */
    replies_to: z
      .array(z.string().regex(/^<[^<>\s]+>$/))
      .min(1)
      .optional(),
  }),
  output: z.object({ id: z.string(), thread_id: z.string() }),

  exec: async (svc, input) => {
    const headers = [
      `To: ${input.to.join(',\r\n ')}`,
      ...(input.cc === undefined ? [] : [`Cc: ${input.cc.join(',\r\n ')}`]),
      `Subject: ${encodedWords(input.subject)}`,
      ...repliesOf(input.replies_to ?? []),
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
