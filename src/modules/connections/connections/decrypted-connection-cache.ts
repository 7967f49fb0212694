import { expiringCache } from '#kernel/cache.ts';
import { joinKey } from '#kernel/ids.ts';
import type { ConnectionsServices } from '../services.ts';
import { decryptForCall } from './decrypt-for-call.ts';
import { isDue } from './freshness.ts';
import type { ConnectionName, OpenedConnections, OpenedForCall } from './opened-connections.ts';
import { requireConnection } from './queries.ts';
import type { FreshOptions } from './refresher.ts';

/** How long decrypted secrets stay in memory before the store is read again. */
const keptMs = 30_000;
const keptMax = 5_000;
const cachedKinds: ReadonlySet<string> = new Set(['connection', 'integration', 'environment']);

type Deps = Pick<ConnectionsServices, 'control' | 'vault' | 'providers' | 'refresher' | 'clock'>;

/** Caches decrypted connections until they change, are due for a refresh, or expire. */
export function createDecryptedConnectionCache(deps: Deps): OpenedConnections {
  const kept = expiringCache<OpenedForCall>(keptMax, keptMs, deps.clock);
  /** What was read before a change must not be cached after it. */
  let changes = 0;
  const stop = deps.control.view.onChange((changed) => {
    for (const { kind, path } of changed) {
      if (!cachedKinds.has(kind)) continue;
      changes += 1;
      if (kind === 'connection') kept.delete(joinKey(...path));
      else kept.clear();
    }
  });
  const openAnew = async (
    key: string,
    { environmentUid, integrationKey, connectionId }: ConnectionName,
    options: FreshOptions | undefined,
  ): Promise<OpenedForCall> => {
    const start = deps.clock.now();
    const changesBefore = changes;
    const connection = await requireConnection(
      deps.control,
      environmentUid,
      integrationKey,
      connectionId,
      {
        status: 400,
        integrationStatus: 404,
      },
    );
    const opened = await decryptForCall(deps, connection, options);
    if (changes === changesBefore) kept.set(key, opened, { start });
    return opened;
  };
  return {
    open(name, options) {
      const key = joinKey(name.environmentUid, name.integrationKey, name.connectionId);
      const existing = options === undefined ? kept.get(key) : undefined;
      if (existing === undefined) return openAnew(key, name, options);
      const isGood = !isDue(existing.stored, existing.provider, deps.clock.now());
      return isGood ? existing : openAnew(key, name, options);
    },
    [Symbol.dispose]() {
      stop();
      kept.clear();
    },
  };
}
