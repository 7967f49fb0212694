import { z } from 'zod';
import { anyJson, data, timestamp } from '../../../http/responses.ts';
import { isoMicros } from '../../../kernel/time.ts';
import type { DeadLetter } from '../../../../streams/dead-letters/state.ts';

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
  parked_at: timestamp,
  changed_at: timestamp,
  changed_by: z.string(),
};
const deadLetterShape = z.strictObject(shown).meta({ id: 'DeadLetter' });

export const oneDeadLetterShape = data(deadLetterShape);

export const deadLettersShape = z.strictObject({
  data: z.array(deadLetterShape),
  next_cursor: z.string().nullable(),
});

/** Without payloads and sealed values. */
const message = z.strictObject({
  key: z.string().nullable(),
  headers: z.record(z.string(), z.string()),
  bytes: z.int(),
  value: anyJson,
  unreadable: z.string().nullable(),
});

export const deadLetterWithMessageShape = data(
  z.strictObject({ ...shown, message: message.nullable() }).meta({ id: 'DeadLetterWithMessage' }),
);

export const presentDeadLetter = (deadLetter: DeadLetter) => ({
  id: deadLetter.id,
  state: deadLetter.state,
  consumer: deadLetter.consumer,
  topic: deadLetter.topic,
  partition: deadLetter.partition,
  offset: deadLetter.offset,
  key: deadLetter.key,
  environment_id: deadLetter.environmentUid,
  integration: deadLetter.integration,
  connection_id: deadLetter.connectionId,
  run_id: deadLetter.runId,
  attempts: deadLetter.attempts,
  retries: deadLetter.retries,
  error:
    deadLetter.errorCode === ''
      ? null
      : { code: deadLetter.errorCode, message: deadLetter.errorMessage },
  parked_at: isoMicros(deadLetter.parkedAt),
  changed_at: isoMicros(deadLetter.changedAt),
  changed_by: deadLetter.changedBy,
});
