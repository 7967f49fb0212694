import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { metricDefinitions } from '../../../src/ports/metrics.ts';

const read = (file: string): string =>
  readFileSync(new URL(`../../../deploy/monitoring/${file}`, import.meta.url), 'utf8');

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly action: string };
}
const { groups } = load(read('alerts.yaml')) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap(({ rules: list }) => list);

interface Dashboard {
  readonly panels: { readonly title: string; readonly targets: { readonly expr: string }[] }[];
}
const { panels } = JSON.parse(read('dashboard.json')) as Dashboard;

/** Of others: Prometheus itself, the runtime's figures, node_exporter. */
const foreign = ['node_filesystem_avail_bytes', 'process_start_time_seconds'];
const suffixes = /_(bucket|count|sum)$/;

/** Every name in the expression that looks like a metric. */
const metricsIn = (expr: string): string[] => {
  const bare = expr.replaceAll(/"[^"]*"/g, '').replaceAll(/\b(by|on)\s*\([^)]*\)/g, '');
  return (bare.match(/\b[a-z]+(?:_[a-z0-9]+)+\b/g) ?? []).filter(
    (name) => !['histogram_quantile', 'predict_linear', '__rate_interval'].includes(name),
  );
};

/** What the labels in the braces of the expression are called. */
const labelsOf = (name: string): readonly string[] =>
  metricDefinitions[name as keyof typeof metricDefinitions].labels;

const known = (name: string): boolean => {
  const base = name.replace(suffixes, '');
  return Object.hasOwn(metricDefinitions, name) || Object.hasOwn(metricDefinitions, base);
};

describe('what is given to operators', () => {
  it('has the alerts that they expect, each with what to do', () => {
    expect(rules.map(({ alert }) => alert)).toEqual([
      'ProjectionLagHigh',
      'ProjectionStopped',
      'DeadLettersGrowing',
      'WebhookBacklogOld',
      'CredentialRefreshFailing',
      'RunQueueOld',
      'LogAppendSlow',
      'DiskFillsIn24h',
      'TopicConfigDrift',
    ]);
    for (const rule of rules) {
      expect(rule.for).toMatch(/^\d+[smh]$/);
      expect(['warning', 'critical']).toContain(rule.labels.severity);
      expect(rule.annotations.summary).toMatch(/\.$/);
      expect(rule.annotations.action).not.toBe('');
    }
  });

  it.each([
    ...rules.map(({ alert, expr }) => [`alert ${alert}`, expr] as const),
    ...panels.flatMap(({ title, targets }) =>
      targets.map(({ expr }) => [`panel ${title}`, expr] as const),
    ),
  ])('uses metrics that the service has: %s', (_where, expr) => {
    const names = metricsIn(expr);
    expect(names).not.toEqual([]);
    expect(names.filter((name) => !known(name) && !foreign.includes(name))).toEqual([]);
    // Brackets that close.
    for (const [open, close] of ['()', '{}', '[]']) {
      expect(expr.split(open!).length).toBe(expr.split(close!).length);
    }
  });

  it('shows every metric on the dashboard', () => {
    const shown = panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => metricsIn(expr)));
    const bases = new Set(shown.flatMap((name) => [name, name.replace(suffixes, '')]));
    expect(Object.keys(metricDefinitions).filter((name) => !bases.has(name))).toEqual([]);
  });

  it('names no connection, record or person in a label', () => {
    const allowed =
      /^(version|route|method|status|thread|projection|partition|result|kind|integration|consumer|consumergroup|topic|reason)$/;
    for (const name of Object.keys(metricDefinitions)) {
      for (const label of labelsOf(name)) expect(label).toMatch(allowed);
    }
  });
});
