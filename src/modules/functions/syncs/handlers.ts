import { randomUUID } from 'node:crypto';
import type { ExecuteOptions, ControlPlane } from '#control-plane/control-plane.ts';
import { commandTo, type CommandOf } from '#control-plane/entity.ts';
import { connectionPathOf } from '#modules/connections/connections/entity.ts';
import type { Connection } from '#modules/connections/connections/state.ts';
import { syncRef, type SyncEntity } from './entity.ts';
import { selectSyncs, type SelectedInstances, type SyncSelection } from './queries.ts';
import type { SyncInstance } from './state.ts';

const parallelMax = 16;

export interface TriggerOptions {
  /** Clears the checkpoint and the last sync date, and cancels the current run. */
  readonly reset: boolean;
  /** Together with `reset`: removes all records first. */
  readonly emptyCache: boolean;
}

export const startCommand = (): CommandOf<SyncEntity> => ({
  type: 'Start',
  runId: randomUUID(),
});

/**
 * Sends the command to every selected instance. Those of one connection are decided together; a repeated
 * Idempotency-Key gets the first response.
 * @throws GatewayError as `selectSyncs`
 */
export function commandSyncs(
  control: ControlPlane,
  wanted: SyncSelection,
  command: () => CommandOf<SyncEntity>,
  options: SyncCommandOptions = {},
): Promise<void> {
  return eachConnection(control, wanted, async ({ connection, instances }) => {
    const commands = instances.map((instance) => [instance, command()] as const);
    await askSyncs(control, connection, commands, { actor: wanted.actor, ...options });
  });
}

export type SyncCommandOptions = Pick<ExecuteOptions, 'idempotencyKey' | 'requestHash'>;

/** @throws GatewayError as `selectSyncs` */
export async function eachConnection(
  control: ControlPlane,
  wanted: SyncSelection,
  task: (selected: SelectedInstances) => Promise<void>,
): Promise<void> {
  const queue = (await selectSyncs(control, wanted)).values();
  const worker = async (): Promise<void> => {
    for (const selected of queue) await task(selected);
  };
  await Promise.all(Array.from({ length: parallelMax }, worker));
}

/** Resolves with the instances after the decision, in order; null = gone. */
export function askSyncs(
  control: ControlPlane,
  connection: Connection,
  commands: readonly (readonly [SyncInstance, CommandOf<SyncEntity>])[],
  options: SyncCommandOptions & { readonly actor: string },
): Promise<readonly (SyncInstance | null)[]> {
  const path = connectionPathOf(connection);
  const requests = commands.map(([{ syncName, variant }, command]) =>
    commandTo(syncRef(path, syncName, variant), command),
  );
  return control.askAll(requests, { isDirect: true, ...options });
}
