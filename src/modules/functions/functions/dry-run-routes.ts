import { z } from 'zod';
import { findCaughtUp } from '#control-plane/control-plane.ts';
import { type AnyRoute, errorAt } from '#http/define-route.ts';
import { connectionId, integrationKey, jsonObject, text } from '#http/fields.ts';
import { anyJson, json, timestamp } from '#http/responses.ts';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import { present } from '#kernel/present.ts';
import { objectOf, type Json, type JsonObject } from '#kernel/stable-json.ts';
import { isoMillis } from '#kernel/time.ts';
import { requireConnection } from '#modules/connections/connections/queries.ts';
import { kindOf } from '../actions/decider.ts';
import { actionRunPath } from '../actions/entity.ts';
import type { ActionRun } from '../actions/state.ts';
import type { RunsClient } from '../runs/invocation/client.ts';
import { defineRoute } from '../services.ts';
import { compileSource } from './compile-source.ts';
import { functionKinds } from './function.ts';

const functionType = z.enum(['sync', 'action']);
const status = z.enum(['waiting', 'running', 'success', 'failed']);

const begin = defineRoute({
  method: 'POST',
  path: '/functions/dryruns',
  credential: 'environment',
  scopes: ['environment:functions:dryrun'],
  summary: 'Start a dry run of a function.',
  description:
    'It runs in the background on a connection. Its requests to the provider are real; nothing that it writes to the gateway stays.',
  body: z.strictObject({
    integration_id: integrationKey,
    function_type: functionType,
    code: text(1, 1_000_000).describe('TypeScript source of the function.'),
    connection_id: connectionId,
    input: z.custom<Json>().optional().describe('Input of an action: any JSON value.'),
    metadata: jsonObject.optional().describe('Metadata in place of that of the connection.'),
    checkpoint: jsonObject.optional().describe('Checkpoint that the run starts with.'),
    last_sync_date: z.iso
      .datetime({ offset: true })
      .optional()
      .describe('Time of the last sync that the function sees (RFC 3339).'),
  }),
  answers: {
    202: json(
      'It runs.',
      z.strictObject({
        id: z.uuid().describe('Id of the dry run.'),
        status: status.describe('State of the dry run.'),
        created_at: timestamp,
      }),
    ),
  },
  errors: [
    'compilation_error',
    'timeout',
    'execution_environment_unavailable',
    errorAt(404, 'integration_not_found'),
    'connection_not_found',
    'request_too_large',
  ],
  async handle({ body, caller, services, signal, idempotency }) {
    const { control, runs, clock } = services;
    checkInput(body.input);
    const connection = await requireConnection(
      control,
      caller.environmentUid,
      body.integration_id,
      body.connection_id,
      {
        code: 'connection_not_found',
        integrationCode: 'integration_not_found',
        integrationStatus: 404,
      },
    );
    const order = {
      functionType: body.function_type,
      bundle: (
        await compileSource({ code: body.code }, signal, {
          environmentUid: caller.environmentUid,
        })
      ).bundle,
      ...present({
        input: body.input,
        metadata: body.metadata,
        checkpoint: body.checkpoint,
        lastSyncDate: body.last_sync_date,
      }),
    };
    const id = await runs.queueDryRun({
      connection,
      order,
      actor: caller.actor,
      ...(idempotency === undefined ? {} : { runId: idempotency.workId }),
    });
    const created_at = isoMillis(clock.now());
    return { status: 202, body: { id, status: 'waiting', created_at } };
  },
});

/**
 * The same limit as for the input of an action.
 * @throws GatewayError `request_too_large`
 */
function checkInput(input: Json | undefined): void {
  const json = input === undefined ? '' : JSON.stringify(input);
  if (Buffer.byteLength(json) <= limits.actionInputBytesMax) return;
  throw new GatewayError('request_too_large', {
    message: 'The input of a dry run exceeds 2 MB of JSON.',
  });
}

const dryRunShape = z.strictObject({
  id: z.uuid().describe('Id of the dry run.'),
  status: status.describe('State of the dry run.'),
  integration_id: integrationKey,
  function_type: z.enum(functionKinds),
  created_at: timestamp,
  updated_at: timestamp,
  started_at: timestamp.optional(),
  completed_at: timestamp.optional(),
  duration_ms: z.int().optional(),
  output: anyJson.optional().describe('Return value of an action; null for a sync.'),
  result: anyJson.optional().describe('What the function saved, deleted and logged.'),
  error: z
    .strictObject({
      code: z.string(),
      message: z.string(),
      payload: anyJson.optional().describe('Details of the error.'),
    })
    .optional()
    .describe('Why it failed.'),
});

const read = defineRoute({
  method: 'GET',
  path: '/functions/dryruns/{id}',
  credential: 'environment',
  scopes: ['environment:functions:dryrun'],
  summary: 'Get a dry run.',
  params: z.strictObject({ id: z.uuid().describe('Id of the dry run.') }),
  answers: { 200: json('The dry run.', dryRunShape) },
  errors: ['dryrun_not_found'],
  async handle({ params, caller, services }) {
    const { view } = services.control;
    const ref = actionRunPath(caller.environmentUid, params.id);
    const run = await findCaughtUp(view, () => view.find(ref));
    if (run === null || kindOf(run) !== 'dryrun') {
      const message = `The dry run "${params.id}" does not exist.`;
      throw new GatewayError('dryrun_not_found', { message });
    }
    return { status: 200, body: await presentDryRun(services.runs, run) };
  },
});

async function presentDryRun(runs: RunsClient, run: ActionRun): Promise<JsonObject> {
  const { startedAt, endedAt, startBy } = run;
  const createdAt = startBy - limits.dryRunStartByMs;
  return {
    id: run.runId,
    status: statusOf(run),
    integration_id: run.integrationKey,
    function_type: run.event ?? '',
    created_at: isoMillis(createdAt),
    updated_at: isoMillis(endedAt ?? startedAt ?? createdAt),
    ...(startedAt === null ? {} : { started_at: isoMillis(startedAt) }),
    ...(endedAt === null ? {} : { completed_at: isoMillis(endedAt) }),
    ...(startedAt === null || endedAt === null ? {} : { duration_ms: endedAt - startedAt }),
    ...(endedAt === null ? {} : await outcomeOf(runs, run)),
  };
}

function statusOf({ status: now, endedAt }: ActionRun): z.output<typeof status> {
  if (endedAt === null) return now === 'started' ? 'running' : 'waiting';
  return now === 'succeeded' ? 'success' : 'failed';
}

async function outcomeOf(runs: RunsClient, run: ActionRun): Promise<JsonObject> {
  try {
    const left = await runs.dryRunOutput(run);
    return objectOf(left);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const { payload } = error.details;
    const failure = { code: error.code, message: error.message };
    return { error: payload === undefined ? failure : { ...failure, payload: payload as Json } };
  }
}

export const dryRunRoutes: readonly AnyRoute[] = [begin, read];
