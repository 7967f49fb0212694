import type { EntityKind } from '../../../control-plane/entity.ts';
import type { ControlPlane, ExecuteOptions } from '../../../control-plane/control-plane.ts';

/** A change of an environment that others may stand against. */
export interface EnvironmentChange {
  readonly isRenamed: boolean;
  /** Payloads are sealed from now on. */
  readonly isSealed: boolean;
}

/** What other nouns keep in an environment; the composition root has the list. */
export interface EnvironmentDependents {
  /** @throws GatewayError `conflict` where the change cannot be */
  refuseChange?(environmentUid: string, change: EnvironmentChange): void;
  /** Deletes all of it. Doing it again finishes what was interrupted. */
  remove?(environmentUid: string, options: ExecuteOptions): Promise<void>;
  /** Finishes deletions of single ones that were interrupted. */
  resume?(options: ExecuteOptions): Promise<void>;
}

/** Entities of a kind that are decided by the owner of their environment and take the command `Delete`. */
export const entitiesOfEnvironment = (
  control: ControlPlane,
  kind: EntityKind,
): EnvironmentDependents => ({
  async remove(environmentUid, options) {
    const commands = control.view
      .list(kind, [environmentUid])
      .map(({ ref }) => ({ ref, body: { type: 'Delete' } }));
    if (commands.length > 0) await control.askAll(commands, options);
  },
});
