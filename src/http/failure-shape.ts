import { z } from 'zod';

const place = z.string().meta({ examples: ['crm/actions/create-contact.ts:12:5'] });

/** Where and why the code of a function failed (docs/reference/functions.md#failures). */
export const failureShape = z
  .strictObject({
    name: z.string().meta({ description: 'Class of the error.', examples: ['TypeError'] }),
    location: place
      .nullable()
      .describe('File, line and column in the source of the function; null where not known.'),
    excerpt: z
      .strictObject({
        line: z.int().describe('Number of the first line.'),
        lines: z.array(z.string()).describe('Text of the lines.'),
      })
      .nullable()
      .describe('Lines of the source around the location.'),
    frames: z
      .array(
        z.strictObject({
          function: z.string().nullable().describe('Name of the function; null without one.'),
          file: z.string(),
          line: z.int().describe('Number of the line, from 1.'),
          column: z.int().describe('Number of the character in the line, from 1.'),
        }),
      )
      .describe('The stack in the source of the function, from the location outwards.'),
    causes: z
      .array(
        z.strictObject({
          name: z.string().describe('Class of the error.'),
          message: z.string(),
          code: z.string().nullable(),
          location: place.nullable().describe('Where the cause was made; null where not known.'),
        }),
      )
      .describe('Errors that led to this one, from the direct cause on.'),
    call: z
      .strictObject({
        method: z.string(),
        url: z
          .string()
          .meta({ examples: ['https://api.example.com/contacts'] })
          .describe('Address of the request, without secrets.'),
        status: z.int().nullable().describe('Status of the response; null without one.'),
        code: z.string().nullable().describe('The error without a response.'),
        body: z
          .string()
          .nullable()
          .describe('The start of the response; null without one, and once it is destroyed.'),
      })
      .nullable()
      .describe('The request to a provider whose error ended the run; null if none did.'),
  })
  .meta({ id: 'RunFailure' });
