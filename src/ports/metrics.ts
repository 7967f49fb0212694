interface Definition {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds of a histogram, in its unit. */
  readonly buckets?: readonly number[];
}

const quick = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const long = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600, 4 * 3_600, 24 * 3_600];

/**
 * Every metric of the service, in base units. No label names a connection, a record or a person. Dashboards and
 * alert rules may use only these names.
 */
export const metricDefinitions = {
  svc_build_info: { kind: 'gauge', help: 'Always 1; the version is a label.', labels: ['version'] },
  svc_http_request_duration_seconds: {
    kind: 'histogram',
    help: 'Time from the request to the end of the response, by route as the API documents it.',
    labels: ['route', 'method', 'status'],
    buckets: quick,
  },
  svc_log_append_duration_seconds: {
    kind: 'histogram',
    help: 'Time from the append of messages to the log until they are durable.',
    labels: ['thread'],
    buckets: quick,
  },
  svc_event_loop_delay_seconds: {
    kind: 'gauge',
    help: 'Event loop delay of the thread, 99th percentile since the last scrape.',
    labels: ['thread'],
  },
  svc_projection_lag_events: {
    kind: 'gauge',
    help: 'Offsets of the topic that are not yet in the tables.',
    labels: ['projection', 'partition'],
  },
  svc_projection_lag_seconds: {
    kind: 'gauge',
    help: 'Age of the oldest message that is not yet in the tables.',
    labels: ['projection', 'partition'],
  },
  svc_projection_events_total: {
    kind: 'counter',
    help: 'Offsets of the topics that this process has read into tables.',
    labels: ['projection', 'result'],
  },
  svc_projection_rebuild_progress_ratio: {
    kind: 'gauge',
    help: 'Share of the topic that a generation in build has read.',
    labels: ['projection'],
  },
  svc_runs_total: {
    kind: 'counter',
    help: 'Runs that ended in this process; interrupted ones are retried elsewhere.',
    labels: ['kind', 'status'],
  },
  svc_run_duration_seconds: {
    kind: 'histogram',
    help: 'Time from the start of a run to its end.',
    labels: ['kind', 'status'],
    buckets: long,
  },
  svc_run_queue_age_seconds: {
    kind: 'gauge',
    help: 'Age of the oldest queued run that no runner has started.',
    labels: [],
  },
  svc_runs_held: {
    kind: 'gauge',
    help: 'Runs that wait because their connection has as many runs of their function as its concurrency.',
    labels: [],
  },
  svc_webhook_attempts_total: {
    kind: 'counter',
    help: 'Attempts to deliver webhooks to the application.',
    labels: ['result'],
  },
  svc_webhooks_in_total: {
    kind: 'counter',
    help: 'Webhooks of providers that were not rejected, within or over the limit of their integration.',
    labels: ['result'],
  },
  svc_webhooks_unverified_total: {
    kind: 'counter',
    help: 'Unverified webhooks of providers, kept or refused by the limits of their integration.',
    labels: ['result'],
  },
  svc_webhook_oldest_pending_seconds: {
    kind: 'gauge',
    help: 'Age of the oldest unprocessed webhook.',
    labels: [],
  },
  svc_credential_refresh_total: {
    kind: 'counter',
    help: 'Refreshes of credentials that ended in this process.',
    labels: ['result'],
  },
  svc_provider_requests_total: {
    kind: 'counter',
    help: 'Requests to providers by proxy and functions; status 0: no response.',
    labels: ['integration', 'status'],
  },
  svc_provider_limit_delays_total: {
    kind: 'counter',
    help: 'Requests to providers that waited for the shared limit of the integration, or were refused by it.',
    labels: ['integration', 'result'],
  },
  svc_dead_letters_total: {
    kind: 'gauge',
    help: 'Parked messages (dead letters) that wait for an operator.',
    labels: ['consumer'],
  },
  svc_sandbox_kills_total: {
    kind: 'counter',
    help: 'Runs of functions that the sandbox ended early.',
    labels: ['reason'],
  },
  kafka_consumergroup_lag: {
    kind: 'gauge',
    help: 'Offsets that the group has not committed, under the name of kafka_exporter.',
    labels: ['consumergroup', 'topic', 'partition'],
  },
} as const satisfies Record<string, Definition>;

export type MetricName = keyof typeof metricDefinitions;
type NameOf<K extends Definition['kind']> = {
  [N in MetricName]: (typeof metricDefinitions)[N]['kind'] extends K ? N : never;
}[MetricName];
/** The values of the labels, in the order of the definition. */
export type LabelValues = readonly (string | number)[];

/** Counts and observes; takes well under a microsecond and never fails. */
export interface Metrics {
  count(name: NameOf<'counter'>, labels: LabelValues, by?: number): void;
  observe(name: NameOf<'histogram'>, labels: LabelValues, value: number): void;
}

/** Metrics that are computed at scrape time: previous values under the name are replaced. */
export interface Gauges {
  replace(
    name: NameOf<'gauge'>,
    values: readonly { readonly labels: LabelValues; readonly value: number }[],
  ): void;
}
