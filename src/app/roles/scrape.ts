import { metricsMediaType, metricsText, type ThreadMetrics } from '#adapters/metrics/prometheus.ts';
import type { RunningThread } from '../threads/start-thread.ts';

/** The metrics of this thread and of the others as one text. */
export async function scraped(
  metrics: ThreadMetrics,
  threads: readonly RunningThread[],
): Promise<{ readonly text: string; readonly mediaType: string }> {
  const others = threads.map(({ peer }) => peer.call<object[]>('metrics.snapshot', []));
  const snapshots = await Promise.all([metrics.snapshot(), ...others]);
  return { text: await metricsText(snapshots), mediaType: metricsMediaType };
}
