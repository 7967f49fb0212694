import type { ControlPlane } from '../../control-plane/control-plane.ts';
import { GatewayError } from '../../kernel/errors.ts';
import { stableJson, type JsonObject } from '../../kernel/stable-json.ts';
import { connectionPathOf, syncRef } from '../syncs/entity.ts';
import type { SyncInstance } from '../syncs/state.ts';
import type { RunCheckpoint } from './runtime/deps.ts';

/** The checkpoint of a sync: part of its entity, written with the version that this attempt has seen. */
export function createSyncCheckpoint(
  control: ControlPlane,
  instance: SyncInstance,
  of: { readonly runId: string; readonly attempt: number; readonly actor: string },
): RunCheckpoint {
  const { runId, attempt, actor } = of;
  const ref = syncRef(connectionPathOf(instance), instance.syncName, instance.variant);
  let { checkpoint, checkpointVersion: version } = instance;
  /** Writes follow one another: each names the version that the one before it made. */
  let last: Promise<void> = Promise.resolve();

  const write = async (next: JsonObject | null): Promise<void> => {
    const type = next === null ? 'ClearCheckpoint' : 'SaveCheckpoint';
    const body = { type, runId, attempt, version, ...(next === null ? {} : { checkpoint: next }) };
    try {
      await control.ask(ref, body, { actor });
    } catch (error) {
      if (!isTaken(error, next)) throw error;
    }
    version += 1;
    checkpoint = next;
  };
  /** A write whose answer was lost is refused when it is repeated: it may be there already. */
  const isTaken = (error: unknown, next: JsonObject | null): boolean => {
    if (!(error instanceof GatewayError) || error.code !== 'checkpoint_conflict') return false;
    const now = control.view.find<SyncInstance>('sync', ref.path);
    return (
      now?.checkpointVersion === version + 1 && stableJson(now.checkpoint) === stableJson(next)
    );
  };
  const inTurn = (next: JsonObject | null): Promise<void> => {
    const turn = last.then(() => write(next));
    last = turn.catch(() => undefined);
    return turn;
  };

  return {
    get: async () => {
      await last;
      return checkpoint;
    },
    save: inTurn,
    clear: async () => {
      await last;
      if (checkpoint !== null) await inTurn(null);
    },
  };
}

const refuse = (): Promise<void> => {
  const message = 'Only syncs keep a checkpoint.';
  return Promise.reject(new GatewayError('invalid_checkpoint', { message }));
};

/** Of runs that are not continued. */
export const noCheckpoint: RunCheckpoint = { get: async () => null, save: refuse, clear: refuse };
