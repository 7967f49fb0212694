import { z } from 'zod';
import type { AnyRoute } from '#http/define-route.ts';
import { text, wholeNumber } from '#http/fields.ts';
import { representation } from '#http/representation.ts';
import { json, succeeded, anyJson, data, timestamp } from '#http/responses.ts';
import { GatewayError } from '#kernel/errors.ts';
import { isoMicros } from '#kernel/time.ts';
import type { DeadLetter } from '#streams/dead-letters/state.ts';
import { defineRoute } from '../services.ts';
import {
  dropDeadLetter,
  findDeadLetter,
  messageOf,
  retryDeadLetter,
  type Ordering,
} from './handlers.ts';

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

const presentDeadLetter = shown.of;

const deadLetterShape = shown.schema.meta({ id: 'DeadLetter' });

const oneDeadLetterShape = data(deadLetterShape);

const deadLettersShape = z.strictObject({
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

const deadLetterWithMessageShape = data(
  shown.schema
    .extend({
      message: message.nullable().describe('The message; null if the log no longer has it.'),
    })
    .meta({ id: 'DeadLetterWithMessage' }),
);

const path = z.strictObject({ id: z.uuid().describe('Id of the dead letter.') });
const pageSizeDefault = 100;

const list = defineRoute({
  method: 'GET',
  path: '/dead-letters',
  credential: 'account',
  scopes: ['account:dead-letters:read'],
  summary: 'List dead letters, newest first.',
  query: z.strictObject({
    state: z
      .enum(['parked', 'retrying', 'resolved', 'dropped'])
      .optional()
      .describe('Only dead letters in this state.'),
    consumer: text(1, 255).optional().describe('Only dead letters of this consumer.'),
    topic: text(1, 255).optional().describe('Only dead letters of this topic.'),
    cursor: text(1, 255).optional(),
    limit: wholeNumber(1, 1000).default(pageSizeDefault),
  }),
  answers: { 200: json('A page.', deadLettersShape) },
  errors: ['invalid_cursor_value'],
  async handle({ query, services }) {
    const { cursor, limit, ...wanted } = query;
    await services.deadLetters.caughtUp();
    const before = cursor === undefined ? undefined : deadLetterOfCursor(cursor);
    const found = services.deadLetters.tables.list({ ...wanted, before, limit: limit + 1 });
    const page = found.slice(0, limit);
    const last = found.length > limit ? page.at(-1) : undefined;
    const next = last === undefined ? null : Buffer.from(last.id).toString('base64url');
    return { status: 200, body: { data: page.map(presentDeadLetter), next_cursor: next } };
  },
});

function deadLetterOfCursor(cursor: string): string {
  const id = Buffer.from(cursor, 'base64url').toString();
  if (z.uuid().safeParse(id).success) return id;
  throw new GatewayError('invalid_cursor_value');
}

const get = defineRoute({
  method: 'GET',
  path: '/dead-letters/{id}',
  credential: 'account',
  scopes: ['account:dead-letters:read'],
  summary: 'Get a dead letter with its message.',
  description: 'Payloads and sealed values are not shown.',
  params: path,
  answers: { 200: json('The letter.', deadLetterWithMessageShape) },
  errors: ['not_found'],
  async handle({ params, services }) {
    const deadLetter = await findDeadLetter(services, params.id);
    const message = await messageOf(services, deadLetter);
    return { status: 200, body: { data: { ...presentDeadLetter(deadLetter), message } } };
  },
});

const retry = defineRoute({
  method: 'POST',
  path: '/dead-letters/{id}/retry',
  credential: 'account',
  scopes: ['account:dead-letters:write'],
  summary: 'Retry a dead letter.',
  description: 'Its consumer processes the message once more.',
  params: path,
  answers: {
    200: json('What came of it.', oneDeadLetterShape),
    202: json('It is being tried.', oneDeadLetterShape),
  },
  errors: ['not_found', 'conflict'],
  async handle(input) {
    const deadLetter = await retryDeadLetter(input.services, input.params.id, orderingOf(input));
    const status = deadLetter.state === 'retrying' ? 202 : 200;
    return { status, body: { data: presentDeadLetter(deadLetter) } };
  },
});

const drop = defineRoute({
  method: 'DELETE',
  path: '/dead-letters/{id}',
  credential: 'account',
  scopes: ['account:dead-letters:write'],
  summary: 'Drop a dead letter.',
  description: 'The message is not tried again.',
  params: path,
  answers: succeeded,
  errors: ['not_found', 'conflict'],
  async handle(input) {
    await dropDeadLetter(input.services, input.params.id, orderingOf(input));
    return { status: 200, body: { success: true } };
  },
});

const orderingOf = ({ caller, idempotency }: Parameters<typeof retry.handle>[0]): Ordering => ({
  actor: caller.actor,
  ...(idempotency === undefined ? {} : { idempotency }),
});

export const deadLetterRoutes: readonly AnyRoute[] = [list, get, retry, drop];
