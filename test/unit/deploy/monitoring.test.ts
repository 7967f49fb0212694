import { existsSync, readFileSync } from 'node:fs';
import { load } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { metricDefinitions } from '#ports/metrics.ts';

const root = new URL('../../../', import.meta.url);
const read = (file: string): string =>
  readFileSync(new URL(`deploy/monitoring/${file}`, root), 'utf8');

const page = readFileSync(new URL('docs/runbooks.md', root), 'utf8');
const anchorOf = (title: string): string => title.toLowerCase().replaceAll(' ', '-');
/** The sections of the page, by anchor. */
const runbooks = new Map(
  page
    .split(/^## /m)
    .slice(1)
    .map((section) => [anchorOf(section.split('\n', 1)[0]!), section] as const),
);

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: { readonly severity: string };
  readonly annotations: {
    readonly summary: string;
    readonly action: string;
    readonly runbook_url: string;
  };
}
const { groups } = load(read('alerts.yaml')) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap(({ rules: list }) => list);

interface Dashboard {
  readonly panels: {
    readonly title: string;
    readonly targets: { readonly expr: string; readonly legendFormat: string }[];
  }[];
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

/** Labels of metrics that are not the service's. */
const foreignLabels = ['mountpoint'];

const labelsIn = (name: string): readonly string[] => {
  if (foreign.includes(name)) return foreignLabels;
  const base = name.replace(suffixes, '');
  const isHistogram = !Object.hasOwn(metricDefinitions, name);
  return isHistogram ? [...labelsOf(base), 'le'] : labelsOf(name);
};

/** Labels that a panel or an annotation shows: `{{status}}`, `{{ $labels.status }}`. */
const shownIn = (text: string): string[] =>
  [...text.matchAll(/\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}/g)].map(([, label]) => label!);

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

  it.each([
    ...rules.map(
      ({ alert, expr, annotations: { summary, action } }) =>
        [`alert ${alert}`, expr, `${summary} ${action}`] as const,
    ),
    ...panels.flatMap(({ title, targets }) =>
      targets.map(({ expr, legendFormat }) => [`panel ${title}`, expr, legendFormat] as const),
    ),
  ])('uses labels that the metrics have: %s', (_where, expr, text) => {
    const has = new Set(metricsIn(expr).flatMap(labelsIn));
    const grouped = [...expr.matchAll(/\b(?:by|on)\s*\(([^)]*)\)/g)].flatMap(([, list]) =>
      list!.split(',').map((label) => label.trim()),
    );
    expect(grouped.filter((label) => !has.has(label))).toEqual([]);
    for (const [, metric, selector] of expr.matchAll(/(\w+)\{([^}]*)\}/g)) {
      const named = selector!.split(',').map((one) => one.split(/[=!]/, 1)[0]!.trim());
      expect(named.filter((label) => !labelsIn(metric!).includes(label))).toEqual([]);
    }
    // An aggregation drops the labels that it does not name.
    expect(shownIn(text).filter((label) => !grouped.includes(label))).toEqual([]);
  });

  it('links each alert to a runbook with symptom, check and action', () => {
    for (const { annotations } of rules) {
      const [file, anchor] = annotations.runbook_url.split('#');
      expect(file).toBe('docs/runbooks.md');
      expect([...runbooks.keys()]).toContain(anchor);
    }
  });

  it('has a runbook of each failure, which a test exercises', () => {
    const rows = [...page.matchAll(/^\| \[([^\]]+)\]\(#([\w-]+)\)\s*\| (.*?)\s*\|$/gm)];
    expect(rows.map(([, title]) => anchorOf(title!))).toEqual(rows.map(([, , anchor]) => anchor));
    expect(rows.map(([, , anchor]) => anchor)).toEqual([...runbooks.keys()]);
    for (const text of runbooks.values()) {
      for (const part of ['Symptom', 'Check', 'Action']) expect(text).toContain(`- **${part}**: `);
    }
    for (const [, , , tests] of rows) {
      const files = [...tests!.matchAll(/`([^`]+)`/g)].map(([, file]) => file!);
      expect(files).not.toEqual([]);
      for (const file of files) expect(existsSync(new URL(file, root)), file).toBe(true);
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
