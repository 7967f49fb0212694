import { z } from 'zod';
import { anyJson, data, moment } from '../../http/answers.ts';

const shown = {
  id: z.uuid(),
  state: z.enum(['parked', 'retrying', 'resolved', 'dropped']),
  consumer: z.string(),
  topic: z.string(),
  partition: z.int(),
  offset: z.int(),
  key: z.string(),
  environment_id: z.string(),
  integration: z.string().nullable(),
  connection_id: z.string().nullable(),
  run_id: z.string().nullable(),
  attempts: z.int(),
  retries: z.int(),
  error: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
  parked_at: moment,
  changed_at: moment,
  changed_by: z.string(),
};
const letterShape = z.strictObject(shown).meta({ id: 'DeadLetter' });

export const oneLetterShape = data(letterShape);

export const lettersShape = z.strictObject({
  data: z.array(letterShape),
  next_cursor: z.string().nullable(),
});

/** Without payloads and what is sealed. */
const message = z.strictObject({
  key: z.string().nullable(),
  headers: z.record(z.string(), z.string()),
  bytes: z.int(),
  value: anyJson,
  unreadable: z.string().nullable(),
});

export const letterWithMessageShape = data(
  z.strictObject({ ...shown, message: message.nullable() }).meta({ id: 'DeadLetterWithMessage' }),
);
