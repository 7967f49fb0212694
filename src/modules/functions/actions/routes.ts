import { z } from 'zod';
import { type AnyRoute, type RouteAnswer, errorAt } from '#http/define-route.ts';
import { errorAnswer } from '#http/error-response.ts';
import {
  jsonObject,
  connectionId,
  flag,
  functionName,
  integrationKey,
  wholeNumber,
} from '#http/fields.ts';
import { anyJson, json } from '#http/responses.ts';
import { GatewayError } from '#kernel/errors.ts';
import { isJsonObject, type Json } from '#kernel/stable-json.ts';
import { defineRoute } from '../services.ts';

/** Whatever the action returns. */
const outputShape = anyJson.meta({ examples: [{ id: 'c-1' }] });

const queuedShape = z
  .strictObject({
    id: z.uuid().describe('Id of the queued run: `GET /action/{id}` returns its output.'),
    statusUrl: z.string().describe('Path that returns the output once the run has ended.'),
  })
  .meta({ id: 'QueuedAction' });

/** Of an action that ended with an ActionError (docs/reference/errors.md#other-bodies). */
const actionFailureShape = z
  .strictObject({
    error_type: z.literal('action_script_failure').describe('Kind of the failure.'),
    payload: jsonObject.describe('The error that the action threw.'),
  })
  .meta({ id: 'ActionFailure' });

const headers = z.object({
  'provider-config-key': integrationKey,
  'connection-id': connectionId,
  'x-async': flag
    .optional()
    .describe('True: answer 202 at once, and run the action in the background.'),
  'x-max-retries': wholeNumber(0, 5)
    .optional()
    .describe('Retries of a failed run in the background; 0 by default.'),
});

const triggerAction = defineRoute({
  method: 'POST',
  path: '/action/trigger',
  credential: 'environment',
  scopes: ['environment:actions:execute'],
  summary: 'Run an action.',
  description:
    'The response is its output. With `X-Async: true` it answers 202 at once, and the outcome arrives as a webhook.',
  headers,
  body: z.looseObject({
    action_name: functionName.describe('Name of the action.'),
    input: z.custom<Json>().optional().describe('Input of the action: any JSON value.'),
  }),
  answers: {
    200: json('What the action returned.', outputShape),
    202: json('It is queued.', queuedShape),
    424: json('The action failed.', actionFailureShape),
  },
  errors: [
    errorAt(400, 'unknown_connection'),
    errorAt(400, 'unknown_provider_config'),
    'not_found',
    'disabled_resource',
    'request_too_large',
    'action_script_failure',
    'script_http_error',
    'script_network_error',
    'script_internal_error',
    'script_output_too_large',
    'invalid_action_input',
    'invalid_action_output',
    'script_aborted',
    'execution_timeout',
    'execution_environment_unavailable',
    'function_runtime_out_of_memory',
    'function_runtime_other',
    'run_interrupted',
  ],
  async handle({ body, headers: sent, caller, services, signal, idempotency }) {
    const request = {
      environmentUid: caller.environmentUid,
      integrationKey: sent['provider-config-key'],
      connectionId: sent['connection-id'],
      name: body.action_name,
      input: body.input,
      actor: caller.actor,
      ...(idempotency === undefined ? {} : { runId: idempotency.workId }),
    };
    if (sent['x-async'] !== true) {
      // A client that disconnects can get the outcome with the same Idempotency-Key.
      const waiting = idempotency === undefined ? signal : new AbortController().signal;
      return outcomeOf(() => services.runs.triggerAction(request, waiting));
    }
    const id = await services.runs.queueAction(request, { retries: sent['x-max-retries'] ?? 0 });
    const statusUrl = `/action/${id}`;
    return { status: 202, headers: { location: statusUrl }, body: { id, statusUrl } };
  },
});

const readAction = defineRoute({
  method: 'GET',
  path: '/action/{id}',
  credential: 'environment',
  scopes: ['environment:actions:execute'],
  summary: 'Get the output of an asynchronous action.',
  description: '404 until the run has ended; kept for seven days.',
  params: z.object({ id: z.uuid().describe('Id of the run, from the answer 202.') }),
  answers: {
    200: json('What the action returned.', outputShape),
    424: json('The action failed.', actionFailureShape),
  },
  errors: ['not_found', 'action_script_failure', 'script_http_error', 'script_internal_error'],
  async handle({ params, caller, services }) {
    return outcomeOf(() => services.runs.actionOutput(caller.environmentUid, params.id));
  },
});

/** The unwrapped output; an ActionError and a provider's error have bodies of their own. */
async function outcomeOf(run: () => Promise<Json | undefined>): Promise<RouteAnswer> {
  try {
    const output = await run();
    return { status: 200, body: Buffer.from(JSON.stringify(output ?? null)) };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const { payload, upstream } = error.details;
    if (error.code === 'action_script_failure') {
      const wrapped = isJsonObject(payload) ? payload : { message: payload ?? null };
      return {
        status: error.status,
        body: { error_type: 'action_script_failure', payload: wrapped },
      };
    }
    if (upstream === undefined) throw error;
    const answer = errorAnswer(error);
    const body = answer.body as { error: object };
    return { ...answer, body: { error: { ...body.error, upstream } } };
  }
}

export const actionRoutes: readonly AnyRoute[] = [triggerAction, readAction];
