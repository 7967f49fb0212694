import type { HostCalls } from '../../../../ports/sandbox.ts';
import type { Lease } from '../../../../ports/coordination.ts';
import { joinKey } from '../../../../kernel/ids.ts';
import { parseArgs, shapes } from './arguments.ts';
import type { RuntimeDeps } from './deps.ts';

type Calls = Pick<HostCalls, 'tryAcquireLock' | 'releaseLock' | 'releaseAllLocks'>;

/** Locks of an environment, held by the run; they end with it or with their time. */
export function lockCalls({ run, coordination }: RuntimeDeps): {
  calls: Calls;
  releaseAll: () => Promise<void>;
} {
  const held = new Map<string, Lease>();
  const token = `${run.runId}/${run.attempt}`;

  const release = async (key: string): Promise<boolean> => {
    const lease = held.get(key);
    if (lease === undefined) return false;
    held.delete(key);
    await coordination.release(lease);
    return true;
  };
  const releaseAll = async (): Promise<void> => {
    await Promise.all([...held.keys()].map(release));
  };

  return {
    releaseAll,
    calls: {
      tryAcquireLock: async (args) => {
        const { key, ttlMs } = parseArgs(shapes.acquireLock, args);
        const name = joinKey('function-lock', run.environmentUid, key);
        const lease = await coordination.acquire(name, { ttlMs, token });
        if (lease !== null) held.set(key, lease);
        return JSON.stringify(lease !== null);
      },
      releaseLock: async (args) => {
        return JSON.stringify(await release(parseArgs(shapes.releaseLock, args).key));
      },
      releaseAllLocks: async () => {
        await releaseAll();
        return 'null';
      },
    },
  };
}
