import type { ExecuteOptions } from '#control-plane/control-plane.ts';
import { apiKeyEntity } from '../api-keys/entity.ts';
import type { SealedEntities } from '../services.ts';
import { entitiesOfEnvironment, type EnvironmentDependents } from './dependents.ts';
import { environmentRef, environmentEntity } from './entity.ts';

interface Deps extends SealedEntities {
  readonly environmentDependents: readonly EnvironmentDependents[];
}

/**
 * Deletes an environment and its contents. Readers do not see it from the first step.
 * @throws GatewayError `cannot_delete_prod_environment`, `unknown_environment`
 */
export async function deleteEnvironment(
  deps: Deps,
  environmentUid: string,
  options: ExecuteOptions,
): Promise<void> {
  await deps.control.execute(environmentRef(environmentUid), { type: 'MarkDeleting' }, options);
  await finishEnvironmentDeletion(deps, environmentUid, options);
}

async function finishEnvironmentDeletion(
  { control, vault, environmentDependents }: Deps,
  environmentUid: string,
  options: ExecuteOptions,
): Promise<void> {
  const keys = entitiesOfEnvironment(control, apiKeyEntity, { type: 'Delete' });
  for (const dependents of [keys, ...environmentDependents]) {
    await dependents.remove?.(environmentUid, options);
  }
  await vault.shred(environmentUid);
  await control.execute(environmentRef(environmentUid), { type: 'Delete' }, options);
}

/** Finishes deletions that a crash interrupted; called at the start and periodically. */
export async function resumeDeletions(deps: Deps): Promise<void> {
  const options = { actor: 'system' };
  const interrupted = deps.control.view.listBy(environmentEntity, 'deleting', 'yes');
  for (const { state } of interrupted) await finishEnvironmentDeletion(deps, state.uid, options);
  for (const dependents of deps.environmentDependents) await dependents.resume?.(options);
}
