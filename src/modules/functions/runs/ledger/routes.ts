import { z } from 'zod';
import type { AnyRoute } from '#http/define-route.ts';
import { text, wholeNumber } from '#http/fields.ts';
import { json, succeeded } from '#http/responses.ts';
import { defineRoute } from '../../services.ts';
import { runFilterFields } from './fields.ts';
import { cancelRun, inputOfRun, oneRun, runsPage } from './history.ts';
import { oneRunShape, revertedShape, runInputShape, runsShape } from './presenter.ts';
import { revertRun } from './revert-run.ts';

const scopes = ['environment:logs:read'] as const;
const path = z.strictObject({ id: text(1, 255).describe('Id of the run.') });
const dateTime = z.iso.datetime({ offset: true });

const list = defineRoute({
  method: 'GET',
  path: '/runs',
  credential: 'environment',
  scopes,
  summary: 'List runs, newest first.',
  description: 'Those of the last 24 hours, unless `since` is sent. Runs are kept for 90 days.',
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
    const conditions = Object.entries(request).filter(([, value]) => value !== undefined);
    return {
      status: 200,
      body: await runsPage(services, caller, { ...Object.fromEntries(conditions), limit }),
    };
  },
});

const get = defineRoute({
  method: 'GET',
  path: '/runs/{id}',
  credential: 'environment',
  scopes,
  summary: 'Get a run with its timeline.',
  description: 'Requests, saves, checkpoints and log lines.',
  params: path,
  answers: { 200: json('The run.', oneRunShape) },
  errors: ['not_found'],
  async handle({ params, caller, services }) {
    return { status: 200, body: { data: await oneRun(services, caller, params.id) } };
  },
});

const inputRoute = defineRoute({
  method: 'GET',
  path: '/runs/{id}/input',
  credential: 'environment',
  scopes: ['environment:actions:execute'],
  summary: 'Get the input of the run of an action.',
  description: 'It is kept for 7 days.',
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
  summary: 'Cancel a run.',
  description: 'A queued run ends at once; a running one is stopped.',
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
  summary: 'Revert what a run did to records.',
  description:
    'The changes are written by a run of their own. Records that changed since are left alone and reported.',
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

export const runRoutes: readonly AnyRoute[] = [list, get, inputRoute, cancel, revert];
