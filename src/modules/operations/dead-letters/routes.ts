import { z } from 'zod';
import type { AnyRoute } from '#http/define-route.ts';
import { text, wholeNumber } from '#http/fields.ts';
import { json, succeeded } from '#http/responses.ts';
import { GatewayError } from '#kernel/errors.ts';
import { defineRoute } from '../services.ts';
import {
  dropDeadLetter,
  findDeadLetter,
  messageOf,
  retryDeadLetter,
  type Ordering,
} from './handlers.ts';
import {
  presentDeadLetter,
  deadLetterWithMessageShape,
  deadLettersShape,
  oneDeadLetterShape,
} from './presenter.ts';

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
