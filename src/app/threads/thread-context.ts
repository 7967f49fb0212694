import type { Logger } from 'pino';
import { createAesGcm } from '#adapters/cipher/aes-gcm.ts';
import { createThreadMetrics, type ThreadMetrics } from '#adapters/metrics/prometheus.ts';
import type { PeerData } from '#adapters/threads/start-peer.ts';
import type { Ports } from '#control-plane/ports.ts';
import { systemClock } from '#kernel/time.ts';
import { openVault, type OpenVault } from '#modules/access/vault/open-vault.ts';
import type { RootKey } from '#modules/access/vault/root-keys.ts';
import { createFaultPoint, type FaultPoint } from '../process/fault-points.ts';
import type { Folders } from '../process/folders.ts';
import { observeLog } from '../process/observe-log.ts';
import type { CoordinationAccess } from '../process/open-coordination.ts';
import type { LogAccess } from '../process/open-log.ts';
import type { TracingAccess } from '../process/open-tracing.ts';
import type { Start } from '../process/start-on-log.ts';

/**
 * Which partitions of the records a process projects: all for itself (embedded tables), those that the group of
 * projectors assigns to it, or none (others project, it reads).
 */
export type ProjectedPartitions = 'all' | 'shared' | 'none';

/** What the main thread passes to a new thread: plain data; the thread opens its own adapters. */
export interface ThreadData extends PeerData {
  readonly name: 'owners' | 'projection';
  /** Niceness relative to the main thread: while processors are busy, threads with waiting callers go first. */
  readonly stepsBack: number;
  readonly log: LogAccess;
  readonly coordination: CoordinationAccess;
  /** Unique name of this process. */
  readonly node: string;
  /** Where the projection keeps its tables, as `openClickHouseStore` takes it. */
  readonly clickhouse: { readonly url: string; readonly cluster: string | null };
  readonly projecting: ProjectedPartitions;
  readonly folders: Folders;
  /** Where state stores are copied to; null = no copies. */
  readonly snapshotDir: string | null;
  /** Whether the owners keep stores of partitions that other processes own. */
  readonly isStandby: boolean;
  readonly partitions: number;
  readonly logLevel: string;
  readonly tracing: TracingAccess | null;
  readonly faultPoint: string | null;
  readonly rootKeys: readonly (Omit<RootKey, 'bytes'> & { readonly bytes: Uint8Array })[];
}

/** What every thread works with: the same ports as the main thread. */
export interface ThreadContext extends Ports {
  readonly vault: OpenVault;
  readonly faultPoint: FaultPoint;
  readonly metrics: ThreadMetrics;
}

/** Opens the ports of a thread on `stack`, which closes them in reverse. */
export async function openThreadContext(
  data: ThreadData,
  stack: AsyncDisposableStack,
  { start, logger }: { readonly start: Start; readonly logger: Logger },
): Promise<ThreadContext> {
  const clock = systemClock;
  const metrics = createThreadMetrics(data.name);
  const { schemas } = start;
  const log = observeLog(start.log, metrics, data.name);
  const rootKeys: RootKey[] = data.rootKeys.map(({ bytes, ...key }) => ({
    ...key,
    bytes: Buffer.from(bytes),
  }));
  const vault = stack.use(
    await openVault({ log, schemas, rootKeys, newCipher: createAesGcm, clock, logger }),
  );
  const faultPoint = createFaultPoint(data.faultPoint);
  return { log, schemas, vault, clock, logger, faultPoint, metrics };
}
