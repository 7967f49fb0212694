import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import Counter from 'prom-client/lib/counter.js';
import Gauge from 'prom-client/lib/gauge.js';
import Histogram from 'prom-client/lib/histogram.js';
import Registry from 'prom-client/lib/registry.js';
import {
  metricDefinitions,
  type Gauges,
  type LabelValues,
  type MetricName,
  type Metrics,
} from '#ports/metrics.ts';

type Entry = readonly [
  MetricName,
  { kind: string; help: string; labels: readonly string[]; buckets?: readonly number[] },
];

/** The metrics of one thread. */
export interface ThreadMetrics extends Metrics, Gauges {
  /** The current values, to be sent to another thread. */
  snapshot(): Promise<object[]>;
}

/** A metric with its labels: counts or observes the value. */
interface LabeledMetric {
  observe(value: number): void;
}

/** Metrics by name, then by one label after the other: a lookup builds no text. */
interface BoundMetrics {
  readonly next: Map<string | number, BoundMetrics>;
  use?: LabeledMetric;
}

interface LabeledCounter extends LabeledMetric {
  value: number;
  readonly child: { inc(by: number): void };
}

function nextOf({ next }: BoundMetrics, step: string | number): BoundMetrics {
  let found = next.get(step);
  if (found === undefined) next.set(step, (found = { next: new Map() }));
  return found;
}

const loopSampleMs = 20;

async function collectOfProcess(register: Registry): Promise<void> {
  const { collectDefaultMetrics } = await import('prom-client');
  collectDefaultMetrics({ register });
}

/** @param thread label of per-thread metrics; `main` also has those of the process */
export function createThreadMetrics(thread: string): ThreadMetrics {
  const registry = new Registry();
  const made = new Map<MetricName, Counter | Gauge | Histogram>();
  /** Counted since the last collection. */
  const counted: LabeledCounter[] = [];
  for (const [name, { kind, help, labels, buckets = [] }] of Object.entries(
    metricDefinitions,
  ) as unknown as Entry[]) {
    const common = { name, help, labelNames: [...labels], registers: [registry] };
    if (kind === 'counter') made.set(name, new Counter(common));
    else if (kind === 'gauge') made.set(name, new Gauge({ ...common, aggregator: 'max' }));
    else made.set(name, new Histogram({ ...common, buckets: [...buckets] }));
  }
  const delay = monitorEventLoopDelay({ resolution: loopSampleMs });
  /**
   * Sampling the loop wakes it 50 to 150 times a second, most of what a resting thread would do: it begins with the first
   * scrape, which waits for samples.
   */
  let sampling: Promise<void> | null = null;
  const sample = async (): Promise<void> => {
    if (thread === 'main') await collectOfProcess(registry);
    delay.enable();
    // A busy thread takes its first sample later.
    do await sleep(2 * loopSampleMs);
    while (delay.count === 0);
  };
  const bound: BoundMetrics = { next: new Map() };

  const boundTo = (name: MetricName, labels: LabelValues): LabeledMetric => {
    let at = nextOf(bound, name);
    for (const label of labels) at = nextOf(at, label);
    if (at.use !== undefined) return at.use;
    const child = made.get(name)?.labels(...labels.map(String));
    if (child !== undefined && 'observe' in child) return (at.use = child);
    const count: LabeledCounter = {
      value: 0,
      child: child as { inc(by: number): void },
      observe(value) {
        count.value += value;
      },
    };
    counted.push(count);
    return (at.use = count);
  };
  const replace: Gauges['replace'] = (name, values) => {
    const gauge = made.get(name) as Gauge;
    gauge.reset();
    for (const { labels, value } of values) gauge.labels(...labels.map(String)).set(value);
  };

  return {
    count: (name, labels, by = 1) => boundTo(name, labels).observe(by),
    observe: (name, labels, value) => boundTo(name, labels).observe(value),
    replace,
    async snapshot() {
      await (sampling ??= sample());
      const seconds = delay.count === 0 ? 0 : delay.percentile(99) / 1e9;
      delay.reset();
      for (const count of counted) {
        count.child.inc(count.value);
        count.value = 0;
      }
      replace('svc_event_loop_delay_seconds', [{ labels: [thread], value: seconds }]);
      return registry.getMetricsAsJSON();
    },
  };
}

/** The snapshots of all threads as one text in the Prometheus format. */
export async function metricsText(snapshots: readonly (readonly object[])[]): Promise<string> {
  const { AggregatorRegistry } = await import('prom-client');
  const lists = snapshots.map((snapshot) => [...snapshot]);
  return AggregatorRegistry.aggregate(lists).metrics();
}

export const metricsMediaType = 'text/plain; version=0.0.4; charset=utf-8';
