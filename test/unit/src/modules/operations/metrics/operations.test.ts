import { describe, expect, it } from 'vitest';
import {
  createThreadMetrics,
  metricsText,
} from '../../../../../../src/adapters/metrics/prometheus.ts';
import { countOperation } from '../../../../../../src/modules/operations/metrics/operations.ts';

describe('a request to a provider', () => {
  it('is measured by integration, in seconds', async () => {
    const metrics = createThreadMetrics('test');
    countOperation(metrics, {
      operationType: 'proxy:call',
      integration: 'crm',
      state: 'success',
      tookMs: 40,
      isInterrupted: false,
      providerStatus: 200,
    });
    const text = await metricsText([await metrics.snapshot()]);
    const name = 'svc_provider_request_duration_seconds';
    expect(text).toContain(`${name}_count{integration="crm"} 1`);
    expect(text).toContain(`${name}_bucket{le="0.025",integration="crm"} 0`);
    expect(text).toContain(`${name}_bucket{le="0.05",integration="crm"} 1`);
  });
});
