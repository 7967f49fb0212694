import { monitorEventLoopDelay } from 'node:perf_hooks';
import {
  AggregatorRegistry,
  collectDefaultMetrics,
  Counter,
  Gauge,
  Histogram,
  Registry,
} from 'prom-client';
import {
  metricDefinitions,
  type Gauges,
  type LabelValues,
  type MetricName,
  type Metrics,
} from '../../ports/metrics.ts';

type Entry = readonly [
  MetricName,
  { kind: string; help: string; labels: readonly string[]; buckets?: readonly number[] },
];

/** The figures of one thread. */
export interface ThreadMetrics extends Metrics, Gauges {
  /** What this thread has, to be sent to another. */
  snapshot(): Promise<object[]>;
}

/** What a bound metric does with a value. */
type Bound = (value: number) => void;

/** Metrics by name, then by one label after the other: finding one makes no text. */
interface BoundMetrics {
  readonly next: Map<string | number, BoundMetrics>;
  use?: Bound;
}

function nextOf({ next }: BoundMetrics, step: string | number): BoundMetrics {
  let found = next.get(step);
  if (found === undefined) next.set(step, (found = { next: new Map() }));
  return found;
}

/** @param thread names it in what each thread has of its own; `main` also has the figures of the process. */
export function createThreadMetrics(thread: string): ThreadMetrics {
  const registry = new Registry();
  if (thread === 'main') collectDefaultMetrics({ register: registry });
  const made = new Map<MetricName, Counter | Gauge | Histogram>();
  for (const [name, { kind, help, labels, buckets = [] }] of Object.entries(
    metricDefinitions,
  ) as unknown as Entry[]) {
    const common = { name, help, labelNames: [...labels], registers: [registry] };
    if (kind === 'counter') made.set(name, new Counter(common));
    else if (kind === 'gauge') made.set(name, new Gauge({ ...common, aggregator: 'max' }));
    else made.set(name, new Histogram({ ...common, buckets: [...buckets] }));
  }
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  const bound: BoundMetrics = { next: new Map() };

  const boundTo = (name: MetricName, labels: LabelValues): Bound => {
    let at = nextOf(bound, name);
    for (const label of labels) at = nextOf(at, label);
    if (at.use !== undefined) return at.use;
    const metric = made.get(name);
    const values = labels.map(String);
    const child = metric?.labels(...values);
    const use: Bound =
      child !== undefined && 'observe' in child
        ? (value) => child.observe(value)
        : (value) => (child as { inc(by: number): void }).inc(value);
    at.use = use;
    return use;
  };
  const replace: Gauges['replace'] = (name, values) => {
    const gauge = made.get(name) as Gauge;
    gauge.reset();
    for (const { labels, value } of values) gauge.labels(...labels.map(String)).set(value);
  };

  return {
    count: (name, labels, by = 1) => boundTo(name, labels)(by),
    observe: (name, labels, value) => boundTo(name, labels)(value),
    replace,
    async snapshot() {
      const seconds = delay.count === 0 ? 0 : delay.percentile(99) / 1e9;
      delay.reset();
      replace('svc_event_loop_delay_seconds', [{ labels: [thread], value: seconds }]);
      return registry.getMetricsAsJSON();
    },
  };
}

/** The snapshots of all threads as one text in the format of Prometheus. */
export function metricsText(snapshots: readonly (readonly object[])[]): Promise<string> {
  const lists = snapshots.map((snapshot) => [...snapshot]);
  return AggregatorRegistry.aggregate(lists).metrics();
}

export const metricsMediaType = 'text/plain; version=0.0.4; charset=utf-8';
