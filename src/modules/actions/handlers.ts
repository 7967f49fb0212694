import { randomUUID } from 'node:crypto';
import type { ControlPlane } from '../../control-plane/control-plane.ts';
import { GatewayError } from '../../kernel/errors.ts';
import { limits } from '../../kernel/limits.ts';
import type { Json } from '../../kernel/stable-json.ts';
import { requireConnection } from '../connections/queries.ts';
import type { Connection } from '../connections/state.ts';
import { requireFunction } from '../functions/queries.ts';
import type { DeployedFunction } from '../functions/state.ts';
import type { RunBodies } from '../runs/bodies.ts';
import type { ActionRequest, RunsClient } from '../runs/client.ts';
import type { BodyPlace, RunChanged } from '../runs/events.ts';
import type { RunEnds } from '../runs/run-ends.ts';
import { actionRunRef } from './entity.ts';
import { readOutput } from './output.ts';
import type { ActionRun } from './state.ts';

export interface RunsClientDeps {
  readonly control: ControlPlane;
  readonly bodies: RunBodies;
  readonly ends: RunEnds;
}

/** Start-by, the run itself, and the minute after which a lost runner is noticed. */
const waitMaxMs = limits.actionStartByMs + limits.actionRunMaxMs + 90_000;

export function createRunsClient(deps: RunsClientDeps): RunsClient {
  return {
    async triggerAction(request, signal) {
      const ground = await findGround(deps.control, request);
      const runId = randomUUID();
      const deadline = AbortSignal.timeout(waitMaxMs);
      const settled = new AbortController();
      const end = deps.ends.next(runId, AbortSignal.any([signal, deadline, settled.signal]));
      // A refused command is thrown before anybody awaits the end.
      end.catch(() => undefined);
      try {
        await queue(deps, request, ground, { runId, isAsync: false, retries: 0 });
        return await outputOf(deps.bodies, await end);
      } catch (error) {
        if (deadline.aborted) throw new GatewayError('execution_timeout', {}, { cause: error });
        if (signal.aborted && error === signal.reason) {
          throw new GatewayError(
            'script_aborted',
            { message: 'The caller went away.' },
            { cause: error },
          );
        }
        throw error;
      } finally {
        settled.abort();
      }
    },

    async queueAction(request, { retries }) {
      const ground = await findGround(deps.control, request);
      const runId = randomUUID();
      await queue(deps, request, ground, { runId, isAsync: true, retries });
      return runId;
    },

    async actionOutput(environmentUid, runId) {
      const { view } = deps.control;
      const path = [environmentUid, runId];
      if (view.find('action-run', path) === null) await view.caughtUp();
      const run = view.find<ActionRun>('action-run', path);
      if (run?.endedAt == null) throw new GatewayError('not_found');
      const { connectionUid, output, error } = run;
      return readEnd(deps.bodies, { runId, environmentUid, connectionUid }, output, error);
    },
  };
}

interface Ground {
  readonly connection: Connection;
  readonly fn: DeployedFunction;
}

/** @throws GatewayError `unknown_connection` and `unknown_provider_config` (400), `unknown_action`, `disabled_resource` */
async function findGround(control: ControlPlane, request: ActionRequest): Promise<Ground> {
  const { environmentUid, integrationKey, connectionId, name } = request;
  const where = [control, environmentUid, integrationKey] as const;
  const connection = await requireConnection(...where, connectionId, { status: 400 });
  const fn = await requireFunction(...where, 'action', name, 'unknown_action');
  if (!fn.isEnabled) throw new GatewayError('disabled_resource');
  return { connection, fn };
}

/** @throws GatewayError `request_too_large` */
async function queue(
  deps: RunsClientDeps,
  request: ActionRequest,
  { connection, fn }: Ground,
  run: { readonly runId: string; readonly isAsync: boolean; readonly retries: number },
): Promise<void> {
  const { environmentUid, integrationKey, connectionId, name, actor } = request;
  const { runId, isAsync, retries } = run;
  const json = request.input === undefined ? null : JSON.stringify(request.input);
  if (json !== null && Buffer.byteLength(json) > limits.actionInputBytesMax) {
    throw new GatewayError('request_too_large', {
      message: 'The input of an action may have 2 MB as JSON.',
    });
  }
  const owner = { runId, environmentUid, connectionUid: connection.uid };
  const input = json === null ? null : await deps.bodies.put(owner, 'input', json);
  const of = { runId, environmentUid, integrationKey, connectionId };
  const body = {
    type: 'Queue',
    ...of,
    connectionUid: connection.uid,
    name,
    functionVersion: fn.version,
    isAsync,
    depth: request.depth ?? 0,
    retriesLeft: retries,
    input: input?.place ?? null,
    inputHash: input?.hash ?? null,
  };
  await deps.control.ask(actionRunRef(of), body, { actor });
}

async function outputOf(bodies: RunBodies, end: RunChanged): Promise<Json | undefined> {
  const { run_id, environment_id: environmentUid, connection_uid: connectionUid } = end;
  const { body_partition: partition, body_offset: offset, error_code: code } = end;
  const place = partition === null || offset === null ? null : { partition, offset };
  const error = code === null ? null : { code, message: end.error_message ?? '' };
  return readEnd(bodies, { runId: run_id ?? '', environmentUid, connectionUid }, place, error);
}

/** The body says it whole; an end without one (a lost runner) says it in its code. */
async function readEnd(
  bodies: RunBodies,
  owner: Parameters<RunBodies['get']>[0],
  place: BodyPlace | null,
  error: { readonly code: string; readonly message: string } | null,
): Promise<Json | undefined> {
  if (place !== null) return readOutput(await bodies.get(owner, 'output', place));
  if (error === null) return undefined;
  throw GatewayError.from({ code: error.code, details: { message: error.message } });
}
