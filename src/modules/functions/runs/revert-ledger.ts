import type { PublicMessage } from '../../../control-plane/entity.ts';
import type { Caller } from '../../../http/define-route.ts';
import { GatewayError } from '../../../kernel/errors.ts';
import { joinKey } from '../../../kernel/ids.ts';
import { quietStep, type RunAction, type RunStep } from './events.ts';
import { scrub } from '../../../kernel/scrub.ts';
import type { ModelPosition } from '../../records/events.ts';
import type { Stream } from '../../records/stream.ts';
import type { RecordsServices } from '../../records/services.ts';

/** A revert in progress, as a run of its own. */
export interface RevertLedger {
  /**
   * Publishes the outcome of the work, and the end position of its changes.
   * @throws the error of the work; `log_unavailable`
   */
  ending(task: () => Promise<readonly ModelPosition[]>): Promise<void>;
}

type Deps = Pick<RecordsServices, 'publisher' | 'logs' | 'clock'>;

/** The run to revert, and the run of the revert. */
interface Reverting {
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
export async function beginRevert(
  { publisher, logs, clock }: Deps,
  { environmentUid, actor }: Caller,
  reverting: Reverting,
): Promise<RevertLedger> {
  const { id, functionName, integration, connectionId, revertId } = reverting;
  const startedAt = clock.nowMicros();
  const publish = async (action: RunAction, more: Partial<RunStep> = {}): Promise<void> => {
    const fields = { started_at: startedAt, ...more };
    await publisher.publish([stepOf(environmentUid, reverting, action, fields)], actor);
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
  { functionName, integration, connectionId, variant, revertId, streams }: Reverting,
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
