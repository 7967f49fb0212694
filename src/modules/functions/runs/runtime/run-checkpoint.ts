import type { ControlPlane } from '#control-plane/control-plane.ts';
import type { CommandOf } from '#control-plane/entity.ts';
import { GatewayError } from '#kernel/errors.ts';
import { stableJson, type JsonObject } from '#kernel/stable-json.ts';
import { connectionPathOf } from '#modules/connections/connections/entity.ts';
import type { Connection } from '#modules/connections/connections/state.ts';
import type { CheckpointEntity } from '#modules/functions/checkpoints/entity.ts';
import type { SyncEntity } from '#modules/functions/syncs/entity.ts';
import type { CalledKind } from '../../actions/state.ts';
import { checkpointRef } from '../../checkpoints/entity.ts';
import { syncRef } from '../../syncs/entity.ts';
import type { SyncInstance } from '../../syncs/state.ts';
import type { Attempt } from '../ledger/events.ts';
import type { RunCheckpoint } from './deps.ts';

/** The checkpoint of a sync: part of its entity, written with the version that this attempt has read. */
export function createSyncCheckpoint(
  control: ControlPlane,
  instance: SyncInstance,
  { runId, number: attempt, actor }: Attempt,
): RunCheckpoint {
  const ref = syncRef(connectionPathOf(instance), instance.syncName, instance.variant);
  return versioned(instance.checkpoint, instance.checkpointVersion, {
    write: async (version, value) => {
      const fields = { runId, attempt, version };
      const body: CommandOf<SyncEntity> =
        value === null
          ? { type: 'ClearCheckpoint', ...fields }
          : { type: 'SaveCheckpoint', ...fields, checkpoint: value };
      await control.execute(ref, body, { actor, isDirect: true });
    },
    stored: () => {
      const now = control.view.find(ref);
      return now === null ? null : { value: now.checkpoint, version: now.checkpointVersion };
    },
  });
}

/** The checkpoint of an invoked function, for the function's next run. */
export function createCalledCheckpoint(
  control: ControlPlane,
  run: {
    readonly connection: Connection;
    readonly kind: CalledKind;
    readonly functionName: string;
    readonly actor: string;
  },
): RunCheckpoint {
  const { connection, kind, functionName, actor } = run;
  const { uid: connectionUid } = connection;
  const ref = checkpointRef(connectionPathOf(connection), { kind, functionName });
  const stored = control.view.find(ref);
  const existing = stored?.connectionUid === connectionUid ? stored : null;
  return versioned(existing?.value ?? null, existing?.version ?? 0, {
    write: async (version, value) => {
      const body: CommandOf<CheckpointEntity> = {
        type: 'Write',
        connectionUid,
        kind,
        functionName,
        version,
        value,
      };
      await control.execute(ref, body, { actor });
    },
    stored: () => {
      const now = control.view.find(ref);
      return now === null ? null : { value: now.value, version: now.version };
    },
  });
}

type Value = JsonObject | null;

/** The storage of a checkpoint. */
interface CheckpointStorage {
  /** @throws GatewayError `checkpoint_conflict`: the version has changed */
  write(version: number, value: Value): Promise<void>;
  /** The current value in the view of this node; null = none. */
  stored(): { readonly value: Value; readonly version: number } | null;
}

/** Sequential writes: each contains the version of the previous one. */
function versioned(first: Value, firstVersion: number, kept: CheckpointStorage): RunCheckpoint {
  let value = first;
  let version = firstVersion;
  let last: Promise<void> = Promise.resolve();

  const write = async (next: Value): Promise<void> => {
    try {
      await kept.write(version, next);
    } catch (error) {
      if (!isTaken(error, next)) throw error;
    }
    version += 1;
    value = next;
  };
  /** A repeated write after a lost reply is refused, because the first one may have succeeded. */
  const isTaken = (error: unknown, next: Value): boolean => {
    if (!(error instanceof GatewayError) || error.code !== 'checkpoint_conflict') return false;
    const now = kept.stored();
    return now?.version === version + 1 && stableJson(now.value) === stableJson(next);
  };
  const inTurn = (next: Value): Promise<void> => {
    const turn = last.then(() => write(next));
    last = turn.catch(() => undefined);
    return turn;
  };

  return {
    get: async () => {
      await last;
      return value;
    },
    save: inTurn,
    clear: async () => {
      await last;
      if (value !== null) await inTurn(null);
    },
  };
}
