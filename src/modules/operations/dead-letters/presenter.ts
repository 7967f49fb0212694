import { z } from 'zod';
import { representation } from '../../../http/representation.ts';
import { anyJson, data, timestamp } from '../../../http/responses.ts';
import { isoMicros } from '../../../kernel/time.ts';
import type { DeadLetter } from '../../../../streams/dead-letters/state.ts';

const shown = representation<DeadLetter>()({
  id: [z.uuid(), ({ id }) => id],
  state: [z.enum(['parked', 'retrying', 'resolved', 'dropped']), ({ state }) => state],
  consumer: [z.string(), ({ consumer }) => consumer],
  topic: [z.string(), ({ topic }) => topic],
  partition: [z.int(), ({ partition }) => partition],
  offset: [z.int(), ({ offset }) => offset],
  key: [z.string(), ({ key }) => key],
  environment_id: [z.string(), ({ environmentUid }) => environmentUid],
  integration: [z.string().nullable(), ({ integration }) => integration],
  connection_id: [z.string().nullable(), ({ connectionId }) => connectionId],
  run_id: [z.string().nullable(), ({ runId }) => runId],
  attempts: [z.int(), ({ attempts }) => attempts],
  retries: [z.int(), ({ retries }) => retries],
  error: [
    z.strictObject({ code: z.string(), message: z.string() }).nullable(),
    ({ errorCode: code, errorMessage: message }) => (code === '' ? null : { code, message }),
  ],
  parked_at: [timestamp, ({ parkedAt }) => isoMicros(parkedAt)],
  changed_at: [timestamp, ({ changedAt }) => isoMicros(changedAt)],
  changed_by: [z.string(), ({ changedBy }) => changedBy],
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
  key: z.string().nullable(),
  headers: z.record(z.string(), z.string()),
  bytes: z.int(),
  value: anyJson,
  unreadable: z.string().nullable(),
});

export const deadLetterWithMessageShape = data(
  shown.schema.extend({ message: message.nullable() }).meta({ id: 'DeadLetterWithMessage' }),
);
