import { GatewayError } from '../../src/kernel/errors.ts';
import { actionRunRef } from '../../src/modules/actions/entity.ts';
import type { Operation } from '../../src/modules/runs/run-log.ts';
import type { BodyOwner } from '../../src/modules/runs/bodies.ts';
import { scrub, type BodyPlace, type RunChanged } from '../../src/modules/runs/events.ts';
import { outputJson } from '../../src/modules/actions/output.ts';
import {
  askUntilDecided,
  attempted,
  groundOf,
  isStale,
  keepAlive,
  runUserCode,
  throughOutage,
  type Ending,
  type RunDeps,
} from './attempt.ts';

export const refOfAction = (change: RunChanged) =>
  actionRunRef({
    environmentUid: change.environment_id,
    integrationKey: change.integration ?? '',
    connectionId: change.connection_id ?? '',
    runId: change.run_id ?? '',
  });

const ownerOf = (change: RunChanged): BodyOwner => ({
  runId: change.run_id ?? '',
  environmentUid: change.environment_id,
  connectionUid: change.connection_uid,
});

/** The input as JSON text; undefined when the caller sent none. Read while the owner decides on the start. */
export async function inputOf(deps: RunDeps, change: RunChanged): Promise<string | undefined> {
  const { body_partition: partition, body_offset: offset } = change;
  if (partition === null || offset === null) return undefined;
  return deps.bodies.get(ownerOf(change), 'input', { partition, offset });
}

/** Runs one attempt of an action from its `started` to its end. Never throws. */
export async function runAction(
  deps: RunDeps,
  change: RunChanged,
  { input, depth }: { readonly input: Promise<string | undefined>; readonly depth: number },
  abort: AbortController,
  closing: AbortSignal,
): Promise<void> {
  const { attempt } = change;
  const runId = change.run_id ?? '';
  const actor = `run:${runId}`;
  const ref = refOfAction(change);
  const operation = beginLog(deps, change);
  using _ = keepAlive(deps, { ref, body: { type: 'Heartbeat', attempt }, actor }, abort);
  const { signal } = abort;

  const ending = await attempted(deps, async () => {
    const { connection, fn } = await groundOf(deps, change);
    const json = await input;
    const host = {
      kind: 'action',
      runId,
      attempt,
      connection,
      fn,
      instance: null,
      depth,
      operation,
      signal,
    } as const;
    return runUserCode(deps, host, { type: 'action', input: json });
  });
  await report(deps, change, endOf(ending), operation, closing);
}

function beginLog(deps: RunDeps, change: RunChanged): Operation {
  const { log_id, run_id, environment_id, integration, connection_id } = change;
  const of = { operationId: log_id, operationType: 'action', runId: run_id ?? '' };
  const where = {
    environmentUid: environment_id,
    integration: integration ?? '',
    connectionId: connection_id ?? '',
  };
  return deps.logs.begin({ ...of, ...where }, `Action ${change.function} started`);
}

async function report(
  deps: RunDeps,
  change: RunChanged,
  end: ReturnType<typeof endOf>,
  operation: Operation,
  closing: AbortSignal,
): Promise<void> {
  const { attempt } = change;
  const runId = change.run_id ?? '';
  try {
    const body = await throughOutage(
      () => deps.bodies.put(ownerOf(change), 'output', end.json),
      closing,
    ).catch(bodyLost);
    const said = {
      type: 'RunEnded',
      attempt,
      status: end.status,
      error: end.error,
      output: body.place,
      outputHash: body.hash,
    };
    await askUntilDecided(
      deps,
      { ref: refOfAction(change), actor: `run:${runId}`, body: said },
      closing,
    );
  } catch (error) {
    if (!isStale(error)) deps.logger.warn({ err: error, runId }, 'the end of a run was not taken');
  }
  operation.end(
    end.status === 'succeeded' ? 'success' : 'failed',
    end.error?.message ?? `Action ${change.function} succeeded`,
  );
}

/** The key went with the connection: the run still ends, without a body. */
function bodyLost(error: unknown): { place: BodyPlace | null; hash: string | null } {
  if (error instanceof GatewayError && error.code === 'not_found')
    return { place: null, hash: null };
  throw error;
}

function endOf(ending: Ending) {
  if (ending.kind === 'ok') {
    return {
      status: 'succeeded',
      error: null,
      json: outputJson({ output: ending.output }),
    } as const;
  }
  const isInterrupted = ending.kind === 'interrupted';
  const error = isInterrupted ? new GatewayError('run_interrupted') : ending.error;
  const status = isInterrupted ? 'interrupted' : ending.status;
  const said = { code: error.code, message: scrub(error.message) };
  return { status, error: said, json: outputJson({ error }) } as const;
}
