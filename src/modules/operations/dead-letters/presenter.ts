import { z } from 'zod';
import { representation } from '#http/representation.ts';
import { anyJson, data, timestamp } from '#http/responses.ts';
import { isoMicros } from '#kernel/time.ts';
import type { DeadLetter } from '#streams/dead-letters/state.ts';

const shown = representation<DeadLetter>()({
  id: z.uuid().describe('Id of the dead letter.'),
  state: z
    .enum(['parked', 'retrying', 'resolved', 'dropped'])
    .describe('State of the dead letter.'),
  consumer: z.string().describe('Consumer that could not process the message.'),
  topic: z.string(),
  partition: z.int(),
  offset: z.int(),
  key: z.string(),
  environment_id: [
    z.string().describe('UUID of the environment.'),
    ({ environmentUid }) => environmentUid,
  ],
  integration: z
    .string()
    .nullable()
    .describe('Unique key of the integration; null where none takes part.'),
  connection_id: z
    .string()
    .nullable()
    .describe('Id of the connection; null where none takes part.'),
  run_id: z.string().nullable().describe('Id of the run; null where none takes part.'),
  attempts: z.int().describe('Attempts before it was parked.'),
  retries: z.int().describe('Retries that operators requested.'),
  error: [
    z
      .strictObject({ code: z.string(), message: z.string() })
      .nullable()
      .describe('The last failure; null if its code is unknown.'),
    ({ errorCode: code, errorMessage: message }) => (code === '' ? null : { code, message }),
  ],
  parked_at: [
    timestamp.describe('Time at which it was parked (RFC 3339).'),
    ({ parkedAt }) => isoMicros(parkedAt),
  ],
  changed_at: [
    timestamp.describe('Time of the last change of its state (RFC 3339).'),
    ({ changedAt }) => isoMicros(changedAt),
  ],
  changed_by: z.string().describe('Actor of that change.'),
});

export const presentDeadLetter = shown.of;

const deadLetterShape = shown.schema.meta({ id: 'DeadLetter' });

export const oneDeadLetterShape = data(deadLetterShape);

export const deadLettersShape = z.strictObject({
  data: z.array(deadLetterShape),
  next_cursor: z.string().nullable(),
});

/** Without payloads and sealed values. */
const message = z.strictObject({
  key: z.string().nullable().describe('Key of the message; null without one.'),
  headers: z.record(z.string(), z.string()),
  bytes: z.int(),
  value: anyJson.describe('The decoded value, without payloads and sealed values.'),
  unreadable: z.string().nullable().describe('Why the message is unreadable; null if it is not.'),
});

export const deadLetterWithMessageShape = data(
  shown.schema
    .extend({
      message: message.nullable().describe('The message; null if the log no longer has it.'),
    })
    .meta({ id: 'DeadLetterWithMessage' }),
);
