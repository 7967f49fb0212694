import type { PublicMessage } from '#control-plane/entity.ts';
import type { Publisher } from '#control-plane/publisher.ts';
import type { Caller } from '#http/define-route.ts';
import { GatewayError } from '#kernel/errors.ts';
import { uuidV7, joinKey } from '#kernel/ids.ts';
import { scrub } from '#kernel/scrub.ts';
import type { Clock } from '#kernel/time.ts';
import { requireConnection } from '#modules/connections/connections/queries.ts';
import { refuseGone } from '#modules/records/history/as-of.ts';
import {
  revertStream,
  type LeftRecord,
  type RevertCounts,
} from '#modules/records/history/revert-stream.ts';
import type { ModelPosition } from '#modules/records/model/events.ts';
import type { Stream } from '#modules/records/model/stream.ts';
import type { WriteOrigin } from '#modules/records/write/writer.ts';
import type { OperationLogs } from '#ports/operation-log.ts';
import type { FunctionsServices } from '../../services.ts';
import { requireSteps } from './current-steps.ts';
import { isEnd, quietStep, type RunAction, type RunStep } from './events.ts';
import { modelsOf } from './presenter.ts';

/** The result of a revert, or of its dry run. */
interface RevertResult {
  readonly run_id: string;
  /** Id of the revert, contained in its changes; null for a dry run. */
  readonly revert_run_id: string | null;
  readonly dry_run: boolean;
  readonly counts: Readonly<Record<string, RevertCounts>>;
  /** The first skipped records; `counts` has their total. */
  readonly left: readonly LeftRecord[];
}

interface EndedRun {
  readonly id: string;
  readonly kind: string;
  readonly functionName: string;
  readonly integration: string;
  readonly connectionId: string;
  readonly variant: string;
  readonly models: readonly string[];
  /** µs; the range of its changes. */
  readonly from: number;
  readonly until: number;
}

/** Tolerance: clocks of the runner and the owner may differ, and its last commands are decided later. */
const marginMicros = 10 * 60 * 1_000_000;

/**
 * Reverts the changes of a run to records, with changes of a run of its own: added records are deleted, changed records
 * get their previous payload, deleted records are restored. Records that others have changed since are skipped. @throws
 * GatewayError `not_found`; `conflict`: it is still running; `history_gone`; `unknown_connection`;
 * `projection_unavailable`, `log_unavailable`: some of it may be done, and may be asked for again
 */
export async function revertRun(
  services: FunctionsServices,
  caller: Caller,
  runId: string,
  isDry: boolean,
): Promise<RevertResult> {
  const run = await endedRun(services, caller, runId);
  const streams = await streamsOf(services, caller, run);
  const revertId = uuidV7(services.clock.now());
  const origin: WriteOrigin = {
    runId: revertId,
    attempt: 1,
    syncName: null,
    actor: caller.actor,
  };
  const counts: Record<string, RevertCounts> = {};
  const left: LeftRecord[] = [];
  const perform = async (writeAs: WriteOrigin | null): Promise<ModelPosition[]> => {
    const places: ModelPosition[] = [];
    for (const stream of streams) {
      const reverted = await revertStream(services, stream, { ...run, writeAs, left });
      counts[stream.model] = reverted.counts;
      if (reverted.place !== null) places.push(reverted.place);
    }
    return places;
  };
  if (isDry) await perform(null);
  else {
    const ledger = await beginRevert(services, caller, { ...run, revertId, streams });
    await ledger.ending(() => perform(origin));
  }
  return { run_id: runId, revert_run_id: isDry ? null : revertId, dry_run: isDry, counts, left };
}

/** @throws GatewayError `not_found`, `conflict`, `history_gone`, `projection_unavailable` */
async function endedRun(
  services: FunctionsServices,
  caller: Caller,
  runId: string,
): Promise<EndedRun> {
  const rows = await requireSteps(services, caller, runId, { withProgress: false });
  const [first] = rows;
  const last = rows.at(-1) ?? first;
  if (!isEnd(last.action)) {
    const message = `The run "${runId}" is still running: cancel it, or wait until it has finished.`;
    throw new GatewayError('conflict', { message });
  }
  refuseGone(Number(first.at), services.clock.now());
  return {
    id: runId,
    kind: first.kind,
    functionName: first.function,
    integration: first.integration,
    connectionId: first.connection_id,
    variant: first.variant,
    models: modelsOf(rows),
    from: Number(first.at) - marginMicros,
    until: Number(last.at) + marginMicros,
  };
}

/** @throws GatewayError `unknown_connection` */
async function streamsOf(
  { control }: FunctionsServices,
  { environmentUid }: Caller,
  { integration, connectionId, variant, models }: EndedRun,
): Promise<Stream[]> {
  const connection = await requireConnection(control, environmentUid, integration, connectionId);
  return models.map((model) => ({
    // Uids come from the key and the view, so they are trusted.
    environmentUid: environmentUid as Stream['environmentUid'],
    connectionUid: connection.uid as Stream['connectionUid'],
    integration: connection.integrationKey as Stream['integration'],
    connectionId: connection.connectionId as Stream['connectionId'],
    model,
    variant,
  }));
}

/** A revert in progress, as a run of its own. */
interface RevertLedger {
  /**
   * Publishes the outcome of the work, and the end position of its changes.
   * @throws the error of the work; `log_unavailable`
   */
  ending(task: () => Promise<readonly ModelPosition[]>): Promise<void>;
}

interface Deps {
  readonly publisher: Publisher;
  readonly logs: OperationLogs;
  readonly clock: Clock;
}

/** The run to revert, and the run of the revert. */
interface RevertRun {
  /** Of the reverted run. */
  readonly id: string;
  readonly functionName: string;
  readonly integration: string;
  readonly connectionId: string;
  readonly variant: string;
  readonly revertId: string;
  readonly streams: readonly Stream[];
}

/** Durable when it resolves: `svc.runs.v1` and the log of operations contain it before its first change. */
async function beginRevert(
  { publisher, logs, clock }: Deps,
  { environmentUid, actor }: Caller,
  revert: RevertRun,
): Promise<RevertLedger> {
  const { id, functionName, integration, connectionId, revertId } = revert;
  const startedAt = clock.nowMicros();
  const publish = async (action: RunAction, more: Partial<RunStep> = {}): Promise<void> => {
    const fields = { started_at: startedAt, ...more };
    await publisher.publish([stepOf(environmentUid, revert, action, fields)], actor);
  };
  await publish('started');
  const operation = logs.begin(
    {
      environmentUid,
      integration,
      connectionId,
      functionName,
      operationId: revertId,
      operationType: 'records:revert',
      runId: revertId,
    },
    `Takes back what the run ${id} did to records.`,
  );
  const took = (): number => Math.round((clock.nowMicros() - startedAt) / 1000);
  return {
    async ending(task) {
      let positions: readonly ModelPosition[];
      try {
        positions = await task();
      } catch (error) {
        const code = error instanceof GatewayError ? error.code : 'server_error';
        const text = error instanceof Error ? error.message : String(error);
        operation.end('failed', text);
        const failure = { error_code: code, error_message: scrub(text) };
        await publish('failed', { ...failure, duration_ms: took() });
        throw error;
      }
      await publish('succeeded', { positions, duration_ms: took() });
      operation.end('success', 'Done.');
    },
  };
}

function stepOf(
  environmentUid: string,
  { functionName, integration, connectionId, variant, revertId, streams }: RevertRun,
  action: RunAction,
  more: Partial<RunStep>,
): PublicMessage {
  const value: Omit<RunStep, 'kind'> = {
    ...quietStep,
    function: functionName,
    function_version: '',
    action,
    attempt: 1,
    connection_uid: streams[0]?.connectionUid ?? '',
    variant,
    models: streams.map(({ model }) => model),
    trigger: 'api',
    log_id: revertId,
    ...more,
  };
  return {
    topic: 'svc.runs.v1',
    key: joinKey(environmentUid, integration, connectionId, revertId),
    type: `svc.run.${action}`,
    environmentUid,
    integration,
    connectionId,
    runId: revertId,
    // No code runs, so it is not one of the kinds of function runs.
    value: { ...value, kind: 'revert' },
  };
}
