import { expect, it } from 'vitest';
import { createThreadMetrics, metricsText } from '#adapters/metrics/prometheus.ts';

const valueOf = (text: string, name: string): number =>
  Number(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'm').exec(text)?.[1]);

it('has samples of the event loop in the first scrape, with which sampling begins', async () => {
  const metrics = createThreadMetrics('main');
  metrics.count('svc_projection_events_total', ['records', 'projected'], 2);
  const scrape = metrics.snapshot();
  // No sample is taken while the thread is busy.
  const busyUntil = performance.now() + 200;
  while (performance.now() < busyUntil);
  const text = await metricsText([await scrape]);
  for (const name of ['nodejs_eventloop_lag_min_seconds', 'svc_event_loop_delay_seconds']) {
    expect(valueOf(text, name)).toBeGreaterThan(0);
    expect(valueOf(text, name)).toBeLessThan(60);
  }
  expect(valueOf(text, 'svc_projection_events_total')).toBe(2);
});

it('repeats no metric of the process in further scrapes, nor when two come together', async () => {
  const metrics = createThreadMetrics('main');
  const [first, second] = await Promise.all([metrics.snapshot(), metrics.snapshot()]);
  const third = await metrics.snapshot();
  const names = (snapshot: object[]) => snapshot.map((one) => (one as { name: string }).name);
  expect(names(second)).toEqual(names(first));
  expect(names(third)).toEqual(names(first));
});
