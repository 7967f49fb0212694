import { z } from 'zod';
import { json, succeeded } from '../../../http/responses.ts';
import type { AnyRoute } from '../../../http/define-route.ts';
import { defineRoute } from '../services.ts';
import { text, wholeNumber } from '../../../http/fields.ts';
import { runFilterFields } from './fields.ts';
import { cancelRun, inputOfRun, oneRun, runsPage } from './history.ts';
import { revertRun } from './revert-run.ts';
import { oneRunShape, revertedShape, runInputShape, runsShape } from './presenter.ts';

const scopes = ['environment:logs:read'] as const;
const path = z.strictObject({ id: text(1, 255) });
const dateTime = z.iso.datetime({ offset: true });

const list = defineRoute({
  method: 'GET',
  path: '/runs',
  credential: 'environment',
  scopes,
  summary: 'Runs of functions, newest first; those of the last 24 hours unless a time is named.',
  query: z.strictObject({
    ...runFilterFields,
    since: dateTime.optional(),
    until: dateTime.optional(),
    cursor: text(1, 1024).optional(),
    limit: wholeNumber(1, 500).default(100),
  }),
  answers: { 200: json('A page of runs.', runsShape) },
  errors: ['invalid_cursor_value'],
  async handle({ query, caller, services }) {
    const { kind, status, limit, ...named } = query;
    const request = {
      kinds: kind,
      statuses: status,
      functionName: named.function,
      integrationKey: named.provider_config_key,
      connectionId: named.connection_id,
      variant: named.variant,
      since: named.since,
      until: named.until,
      cursor: named.cursor,
    };
    const input = Object.entries(request).filter(([, value]) => value !== undefined);
    return {
      status: 200,
      body: await runsPage(services, caller, { ...Object.fromEntries(input), limit }),
    };
  },
});

const get = defineRoute({
  method: 'GET',
  path: '/runs/{id}',
  credential: 'environment',
  scopes,
  summary: 'One run with what it did: requests, saves, checkpoints, lines of its log.',
  params: path,
  answers: { 200: json('The run.', oneRunShape) },
  errors: ['not_found'],
  async handle({ params, caller, services }) {
    return { status: 200, body: { data: await oneRun(services, caller, params.id) } };
  },
});

const input = defineRoute({
  method: 'GET',
  path: '/runs/{id}/input',
  credential: 'environment',
  scopes: ['environment:actions:execute'],
  summary: 'The input of the run of an action, while it is stored.',
  params: path,
  answers: { 200: json('The input.', runInputShape) },
  errors: ['not_found'],
  async handle({ params, caller, services }) {
    return { status: 200, body: { data: await inputOfRun(services, caller, params.id) } };
  },
});

const cancel = defineRoute({
  method: 'POST',
  path: '/runs/{id}/cancel',
  credential: 'environment',
  scopes: ['environment:syncs:execute', 'environment:actions:execute'],
  summary: 'Cancels a run that is queued or going.',
  params: path,
  answers: succeeded,
  errors: ['not_found'],
  async handle({ params, caller, services }) {
    await cancelRun(services, caller, params.id);
    return { status: 200, body: { success: true } };
  },
});

const revert = defineRoute({
  method: 'POST',
  path: '/runs/{id}/revert',
  credential: 'environment',
  scopes: ['environment:records:write'],
  summary: 'Takes back what a run did to records, by changes of a run of its own.',
  params: path,
  body: z.strictObject({
    dry_run: z
      .boolean()
      .default(false)
      .meta({ description: 'Say what would be done, and do nothing.' }),
  }),
  answers: { 200: json('What was taken back, or would be.', revertedShape) },
  errors: ['not_found', 'conflict', 'history_gone', 'unknown_connection'],
  async handle({ params, body, caller, services }) {
    const data = await revertRun(services, caller, params.id, body.dry_run);
    return { status: 200, body: { data } };
  },
});

export const runRoutes: readonly AnyRoute[] = [list, get, input, cancel, revert];
