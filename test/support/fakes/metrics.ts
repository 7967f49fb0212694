import {
  createThreadMetrics,
  metricsMediaType,
  metricsText,
} from '#adapters/metrics/prometheus.ts';
import type { Services } from '#api/services.ts';

const metrics = createThreadMetrics('test');

/** The metrics of a test's process; a test of them takes the gateway's. */
export const uncounted: Pick<Services, 'metrics' | 'scrape'> = {
  metrics,
  scrape: async () => ({
    text: await metricsText([await metrics.snapshot()]),
    mediaType: metricsMediaType,
  }),
};
