import { z } from 'zod';
import type { AnyRoute } from '#http/define-route.ts';
import { mapOf, text } from '#http/fields.ts';
import { json, timestamp } from '#http/responses.ts';
import { GatewayError } from '#kernel/errors.ts';
import { isoMillis } from '#kernel/time.ts';
import { requireConnection } from '#modules/connections/connections/queries.ts';
import { requireSteps, type RunRows } from '../runs/ledger/current-steps.ts';
import { isEnd } from '../runs/ledger/events.ts';
import { defineRoute } from '../services.ts';
import { compileSource } from './compile-source.ts';
import { functionKinds, type FunctionKind } from './function.ts';
import { requireFunction } from './queries.ts';

/** Replays of recorded runs (docs/time-travel.md). */

const begin = defineRoute({
  method: 'POST',
  path: '/runs/{id}/replays',
  credential: 'environment',
  scopes: ['environment:functions:dryrun'],
  summary: 'Replay a recorded run.',
  description:
    'Runs the deployed function, or other code, on the recorded responses, and compares what it does. Nothing reaches the provider or is written. Read the difference as that of a dry run: `GET /functions/dryruns/{id}`.',
  params: z.strictObject({ id: text(1, 255).describe('Id of the run.') }),
  body: z.strictObject({
    code: text(1, 1_000_000)
      .optional()
      .describe('TypeScript source of other code; absent: the deployed function.'),
    imports: mapOf(text(1, 255), text(0, 1_000_000))
      .optional()
      .describe(
        'Files that the code imports, by path in a project in which the folder of the integration is called `integration`.',
      ),
  }),
  answers: {
    202: json(
      'It runs.',
      z.strictObject({
        id: z.uuid().describe('Id of the replay, of a dry run.'),
        attempt: z.int().describe('The recorded attempt that it runs on.'),
        recorded_bytes: z.int().describe('Bytes that are kept of the recording.'),
        recorded_calls: z.int().describe('Calls in the recording.'),
        same_code: z.boolean().describe('Whether the code is that which was recorded.'),
        created_at: timestamp,
      }),
    ),
  },
  errors: [
    'not_found',
    'conflict',
    'unknown_connection',
    'compilation_error',
    'timeout',
    'execution_environment_unavailable',
  ],
  async handle({ params, body, caller, services, signal, idempotency }) {
    const { control, runs, clock } = services;
    const { environmentUid, actor } = caller;
    const steps = await requireSteps(services, caller, params.id, { withProgress: false });
    const run = replayable(steps);
    const connection = await requireConnection(
      control,
      environmentUid,
      run.integrationKey,
      run.connectionId,
    );
    const recorded = await runs.recordedRun({ environmentUid, ...run.replayOf });
    const deployed =
      body.code === undefined
        ? await requireFunction(control, environmentUid, run.integrationKey, run.kind, run.name)
        : null;
    const bundle =
      deployed?.bundle ??
      (
        await compileSource({ code: body.code ?? '', imports: body.imports ?? {} }, signal, {
          environmentUid,
        })
      ).bundle;
    const { replayOf, kind, entry } = run;
    const id = await runs.queueDryRun({
      connection,
      order: { replayOf, kind, entry, bundle },
      actor,
      ...(idempotency === undefined ? {} : { runId: idempotency.workId }),
    });
    return {
      status: 202,
      body: {
        id,
        attempt: recorded.attempt,
        recorded_bytes: recorded.bytes,
        recorded_calls: recorded.recording.calls.length,
        same_code: deployed?.contentHash === recorded.recording.contentHash,
        created_at: isoMillis(clock.now()),
      },
    };
  },
});

/** @throws GatewayError `conflict`: it has not ended, or is none of a function */
function replayable(steps: RunRows) {
  const [first] = steps;
  const last = steps.at(-1) ?? first;
  const { run_id: runId, kind: runKind, integration, connection_id: connectionId } = first;
  const kind: string = runKind === 'webhook' ? 'sync' : runKind;
  if (!isFunctionKind(kind)) {
    throw new GatewayError('conflict', {
      message: `A run of the kind ${runKind} is not replayed.`,
    });
  }
  if (!isEnd(last.action)) {
    const message = `The run "${runId}" has not ended: replay it after its end.`;
    throw new GatewayError('conflict', { message });
  }
  const [queuedAt, endedAt] = [first, last].map(({ at }) => Math.floor(Number(at) / 1000));
  return {
    replayOf: { runId, queuedAt: queuedAt ?? 0, endedAt: endedAt ?? 0 },
    kind,
    entry: runKind === 'webhook' ? 'onWebhook' : 'exec',
    name: first.function,
    integrationKey: integration,
    connectionId,
  } as const;
}

const isFunctionKind = (kind: string): kind is FunctionKind =>
  (functionKinds as readonly string[]).includes(kind);

export const replayRoutes: readonly AnyRoute[] = [begin];
