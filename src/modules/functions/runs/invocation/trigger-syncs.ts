import { randomUUID } from 'node:crypto';
import type { ControlPlane } from '#control-plane/control-plane.ts';
import {
  askSyncs,
  eachConnection,
  type SyncCommandOptions,
  type TriggerOptions,
} from '../../syncs/handlers.ts';
import type { SyncSelection } from '../../syncs/queries.ts';
import type { SyncInstance } from '../../syncs/state.ts';
import { actorOf, type Attempt } from '../ledger/events.ts';
import type { DirectRuns, TakenSync } from './direct-runs.ts';
import type { RunCompletions } from './run-completions.ts';

interface TriggerDeps {
  readonly control: ControlPlane;
  readonly direct: DirectRuns;
  readonly ends: RunCompletions;
}

/**
 * Queues a run of every selected sync that has none, or starts it in this process if a slot is free. A reset waits for
 * the runners' group, which reads the end of the run that it cancels before.
 * @throws GatewayError as `selectSyncs`
 */
export function triggerSyncs(
  { control, direct, ends }: TriggerDeps,
  wanted: SyncSelection,
  how: TriggerOptions,
  options: SyncCommandOptions = {},
): Promise<void> {
  return eachConnection(control, wanted, async ({ connection, instances }) => {
    using taken = new DisposableStack();
    const runs = instances.map((instance) => {
      const runId = randomUUID();
      const run = taken.use(how.reset ? null : direct.takeSync(firstAttempt(instance, runId)));
      if (run !== null) stopAtEnd(ends, runId, run);
      return { instance, runId, run };
    });
    const commands = runs.map(({ instance, runId, run }) => {
      const runner = run === null ? {} : { runner: run.runner };
      return [instance, { type: 'Trigger', runId, ...how, ...runner }] as const;
    });
    const after = await askSyncs(control, connection, commands, {
      actor: wanted.actor,
      ...options,
    });
    runs.forEach(({ runId, run }, index) => {
      const instance = after[index] ?? null;
      const current = instance?.current ?? null;
      if (run === null || instance === null || current?.runId !== runId) return;
      if (current.status === 'started' && current.runner === run.runner) run.begin(instance);
    });
  });
}

/** The runners' group may read a cancel in another process. */
function stopAtEnd(ends: RunCompletions, runId: string, run: TakenSync): void {
  const over = new AbortController();
  ends.next(runId, over.signal).then(
    () => run.stop(),
    () => undefined,
  );
  void run.over.then(() => over.abort());
}

/** As the message of its queued step would say, if it started in another process. */
function firstAttempt(instance: SyncInstance, runId: string): Attempt {
  const { environmentUid, integrationKey, connectionId, connectionUid } = instance;
  return {
    kind: 'sync',
    runId,
    number: 1,
    actor: actorOf(runId),
    operationId: runId,
    functionName: instance.syncName,
    variant: instance.variant,
    trigger: 'api',
    environmentUid,
    integrationKey,
    connectionId,
    connectionUid,
    startBy: null,
    input: null,
    emptyCache: false,
  };
}
