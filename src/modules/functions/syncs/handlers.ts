import { randomUUID } from 'node:crypto';
import type { ExecuteOptions, ControlPlane } from '#control-plane/control-plane.ts';
import { commandTo, type CommandOf } from '#control-plane/entity.ts';
import { connectionPathOf } from '#modules/connections/connections/entity.ts';
import { syncRef, type SyncEntity } from './entity.ts';
import { selectSyncs, type SyncSelection } from './queries.ts';

const parallelMax = 16;

export interface TriggerOptions {
  /** Clears the checkpoint and the last sync date, and cancels the current run. */
  readonly reset: boolean;
  /** Together with `reset`: removes all records first. */
  readonly emptyCache: boolean;
}

export const triggerCommand = (how: TriggerOptions): CommandOf<SyncEntity> => ({
  type: 'Trigger',
  runId: randomUUID(),
  ...how,
});

export const startCommand = (): CommandOf<SyncEntity> => ({
  type: 'Start',
  runId: randomUUID(),
});

/**
 * Sends the command to every selected instance. Those of one connection are decided together; a repeated
 * Idempotency-Key gets the first response.
 * @throws GatewayError as `selectSyncs`
 */
export async function commandSyncs(
  control: ControlPlane,
  wanted: SyncSelection,
  command: () => CommandOf<SyncEntity>,
  options: Pick<ExecuteOptions, 'idempotencyKey' | 'requestHash'> = {},
): Promise<void> {
  const { actor } = wanted;
  const queue = (await selectSyncs(control, wanted)).values();
  const worker = async (): Promise<void> => {
    for (const { connection, instances } of queue) {
      const path = connectionPathOf(connection);
      const commands = instances.map(({ syncName, variant }) =>
        commandTo(syncRef(path, syncName, variant), command()),
      );
      await control.askAll(commands, { actor, isDirect: true, ...options });
    }
  };
  await Promise.all(Array.from({ length: parallelMax }, worker));
}
