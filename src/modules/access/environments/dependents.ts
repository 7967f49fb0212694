import type { ControlPlane, ExecuteOptions } from '#control-plane/control-plane.ts';
import {
  commandTo,
  type CommandOf,
  type EntityKind,
  type EntityTypes,
} from '#control-plane/entity.ts';

/** A change of an environment that dependents can refuse. */
export interface EnvironmentChange {
  readonly isRenamed: boolean;
  /** Turns on the sealing of payloads. */
  readonly isSealed: boolean;
}

/** The state of other entities in an environment; the composition root has the list. */
export interface EnvironmentDependents {
  /** @throws GatewayError `conflict` if the dependents do not allow the change */
  refuseChange?(environmentUid: string, change: EnvironmentChange): void;
  /** Deletes all of it. Idempotent: a repetition finishes an interrupted deletion. */
  remove?(environmentUid: string, options: ExecuteOptions): Promise<void>;
  /** Finishes interrupted deletions of single entities. */
  resume?(options: ExecuteOptions): Promise<void>;
}

/** Entities of a kind in the scope of their environment that accept the command. */
export const entitiesOfEnvironment = <E extends EntityTypes>(
  control: ControlPlane,
  kind: EntityKind<E>,
  deletion: CommandOf<E>,
): EnvironmentDependents => ({
  async remove(environmentUid, options) {
    const commands = control.view
      .list(kind, [environmentUid])
      .map(({ ref }) => commandTo(ref, deletion));
    if (commands.length > 0) await control.askAll(commands, options);
  },
});
