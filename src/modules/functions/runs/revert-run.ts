import type { Caller } from '../../../http/define-route.ts';
import { GatewayError } from '../../../kernel/errors.ts';
import { uuidV7 } from '../../../kernel/ids.ts';
import { requireConnection } from '../../connections/connections/queries.ts';
import { isEnd } from './events.ts';
import { presentRun } from './presenter.ts';
import { stepsOf } from './queries.ts';
import type { ModelPosition } from '../../records/events.ts';
import { refuseGone } from '../../records/as-of.ts';
import { beginRevert } from './revert-ledger.ts';
import { revertStream, type LeftRecord, type RevertCounts } from '../../records/revert-stream.ts';
import type { Stream } from '../../records/stream.ts';
import type { WriteOrigin } from '../../records/writer.ts';
import type { RecordsServices } from '../../records/services.ts';

/** The result of a revert, or of its dry run. */
export interface Reverted {
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
  services: RecordsServices,
  caller: Caller,
  runId: string,
  isDry: boolean,
): Promise<Reverted> {
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
  services: RecordsServices,
  { environmentUid }: Caller,
  runId: string,
): Promise<EndedRun> {
  const rows = await stepsOf(services, environmentUid, [runId], { withProgress: false });
  const [first] = rows;
  const last = rows.at(-1);
  if (first === undefined || last === undefined) {
    throw new GatewayError('not_found', { message: `The run "${runId}" does not exist.` });
  }
  if (!isEnd(last.action)) {
    const message = `The run "${runId}" is still running: cancel it, or wait until it has finished.`;
    throw new GatewayError('conflict', { message });
  }
  refuseGone(Number(first.at), services.clock.now());
  const { models } = presentRun([first, ...rows.slice(1)]);
  return {
    id: runId,
    kind: first.kind,
    functionName: first.function,
    integration: first.integration,
    connectionId: first.connection_id,
    variant: first.variant,
    // The presenter returns the values of the ledger.
    models: models as readonly string[],
    from: Number(first.at) - marginMicros,
    until: Number(last.at) + marginMicros,
  };
}

/** @throws GatewayError `unknown_connection` */
async function streamsOf(
  { control }: RecordsServices,
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
