import type { ControlPlane } from '#control-plane/control-plane.ts';
import { uuidV5 } from '#kernel/ids.ts';
import { connectionEntity } from '#modules/connections/connections/entity.ts';
import type { ActionRun } from '#modules/functions/actions/state.ts';
import { findFunction } from '#modules/functions/functions/queries.ts';
import type { RunsClient } from '#modules/functions/runs/invocation/client.ts';
import type { FunctionTarget, Subscription } from '../subscriptions/subscription.ts';
import type { OpenedTarget, SendOutcome } from './target.ts';

interface FunctionTargetDeps {
  readonly control: ControlPlane;
  readonly runs: RunsClient;
}

/** Ends of runs that say nothing about the changes. */
const passingCodes: ReadonlySet<string> = new Set([
  'run_interrupted',
  'execution_environment_unavailable',
  'function_disabled',
  'script_aborted',
]);

/** Each batch is a run of the function, on the connection of its changes. Null: it is disabled, or about to be deleted. */
export function openFunctionTarget(
  { control, runs }: FunctionTargetDeps,
  { environmentUid }: Pick<Subscription, 'environmentUid'>,
  { integrationKey, name }: FunctionTarget,
): OpenedTarget | null {
  const fn = findFunction(control, environmentUid, integrationKey, 'on-change', name);
  if (fn?.delivery === undefined || !fn.isEnabled) return null;
  return {
    ...fn.delivery,
    isOfConnection: true,
    async send(changes, { id, attempt }, signal) {
      const uid = changes[0]?.connectionUid ?? '';
      const connection = control.view.findBy(connectionEntity, 'uid', uid)?.state ?? null;
      // Changes of a deleted connection have nothing to run on.
      if (connection === null || connection.isDeleting) return { isTaken: true };
      const texts = changes.map(({ text }) => text);
      const request = { connection, fn, changes: texts, actor: 'system' };
      const runId = uuidV5(id, `${attempt}`);
      return outcomeOf(await runs.runChanges(request, runId, signal));
    },
  };
}

function outcomeOf({ runId, status, error }: ActionRun): SendOutcome {
  if (status === 'succeeded') return { isTaken: true };
  const code = error?.code ?? status;
  const isByTarget = status !== 'cancelled' && !passingCodes.has(code);
  return {
    isTaken: false,
    isByTarget,
    reason: `${code}: ${error?.message ?? status} Run ${runId}.`,
  };
}
