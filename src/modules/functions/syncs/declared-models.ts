import { LRUCache } from 'lru-cache';
import type { ControlPlane } from '#control-plane/control-plane.ts';
import { joinKey } from '#kernel/ids.ts';
import type { DeclaredModels, ModelNames } from '#modules/records/services.ts';
import { listFunctions } from '../functions/queries.ts';
import { connectionPathOf, syncEntity } from './entity.ts';

const integrationsMax = 1000;

/**
 * The models of deployed functions. Kept in memory until a function of the integration changes: the view would parse the
 * code of all of them, and clients poll for records long before the first run.
 */
export function createDeclaredModels(control: ControlPlane): DeclaredModels & Disposable {
  const kept = new LRUCache<string, ModelNames>({ max: integrationsMax });
  const stop = control.view.onChange((changed) => {
    for (const { kind, path } of changed) {
      if (kind === 'function') kept.delete(joinKey(...path.slice(0, 2)));
    }
  });
  return {
    find(environmentUid, integrationKey) {
      const key = joinKey(environmentUid, integrationKey);
      const existing = kept.get(key);
      if (existing !== undefined) return existing;
      const functions = listFunctions(control, environmentUid, { integrationKey });
      const syncs = functions.filter(({ kind }) => kind === 'sync');
      const names = {
        all: new Set(functions.flatMap(({ models }) => models)),
        synced: [...new Set(syncs.flatMap(({ models }) => models))].sort(),
      };
      kept.set(key, names);
      return names;
    },
    variantsOf(stream) {
      const path = connectionPathOf({ ...stream, integrationKey: stream.integration });
      const instances = control.view.list(syncEntity, path);
      return [...new Set(instances.map(({ state }) => state.variant))];
    },
    [Symbol.dispose]: stop,
  };
}
