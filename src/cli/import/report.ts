import { printable } from '#kernel/printable.ts';
import { columns } from '../columns.ts';
import type { Output } from '../output.ts';
import type { Step } from './decision.ts';
import { sectionNames, type SectionName } from './mapping.ts';
import type { Plan } from './plan.ts';
import { problemCodes, type Problem } from './problem.ts';

type Counts = Readonly<Record<'create' | 'update' | 'unchanged' | 'failed', number>>;

/** What an import does or did; it holds names only. */
export interface Report {
  readonly source: string;
  readonly applied: boolean;
  readonly counts: Readonly<Record<SectionName, Counts>>;
  readonly changes: readonly Pick<Step, 'kind' | 'id' | 'action' | 'fields' | 'addresses'>[];
  readonly problems: readonly Problem[];
}

/** @param steps those that are planned, or that succeeded */
export function reportOf(
  source: string,
  { unchanged }: Pick<Plan, 'unchanged'>,
  steps: readonly Step[],
  problems: readonly Problem[],
  applied: boolean,
): Report {
  const counts = sectionNames.map((kind) => {
    const countOf = (action: Step['action']): number =>
      steps.filter((step) => step.kind === kind && step.action === action).length;
    const failed = problems.filter((problem) => problem.kind === kind && !problem.came).length;
    return [
      kind,
      { create: countOf('create'), update: countOf('update'), unchanged: unchanged[kind], failed },
    ];
  });
  const order = (a: { kind: SectionName; id: string }, b: typeof a): number =>
    sectionNames.indexOf(a.kind) - sectionNames.indexOf(b.kind) || (a.id < b.id ? -1 : 1);
  return {
    source,
    applied,
    counts: Object.fromEntries(counts) as Report['counts'],
    changes: steps
      .map(({ kind, id, action, fields, addresses = [] }) => ({
        kind,
        id,
        action,
        fields,
        ...(addresses.length === 0 ? {} : { addresses }),
      }))
      .sort(order),
    problems: [...problems].sort(order),
  };
}

export async function showReport(
  output: Output,
  report: Report,
  isJson: boolean | undefined,
): Promise<void> {
  if (isJson === true) {
    output.result(JSON.stringify(report));
    return;
  }
  const { counts, changes, problems, applied } = report;
  const heads = applied
    ? ['', 'created', 'updated', 'unchanged', 'did not come']
    : ['', 'to create', 'to update', 'unchanged', 'cannot come'];
  const rows = sectionNames.map((kind) => {
    const { create, update, unchanged, failed } = counts[kind];
    return [kind.replace('_', ' '), create, update, unchanged, failed];
  });
  for (const line of await columns(heads, rows, 1)) output.result(line);
  const updates = changes.filter(({ action }) => action === 'update');
  if (updates.length > 0) output.result(`\n${applied ? 'Updated' : 'To update'}`);
  for (const { kind, id, fields } of updates) {
    output.result(`  ${singular(kind)} ${printable(id)}: ${fields.join(', ')}`);
  }
  const sending = changes.filter(({ addresses = [] }) => addresses.length > 0);
  if (sending.length > 0) output.result(`\n${applied ? 'Webhooks go to' : 'Webhooks would go to'}`);
  for (const { kind, id, addresses = [] } of sending) {
    output.result(`  ${singular(kind)} ${printable(id)}: ${addresses.map(printable).join(', ')}`);
  }
  showProblems(output, problems, false, applied ? 'Not imported' : 'Cannot be imported');
  showProblems(
    output,
    problems,
    true,
    applied ? 'Imported, with a change' : 'Will be imported, with a change',
  );
}

function showProblems(
  output: Output,
  all: readonly Problem[],
  came: boolean,
  heading: string,
): void {
  const problems = all.filter((problem) => problem.came === came);
  if (problems.length === 0) return;
  output.result(`\n${heading}`);
  for (const [code, some] of Map.groupBy(problems, (problem) => problem.code)) {
    output.result(`  ${code}: ${problemCodes[code]} (${some.length})`);
    for (const { kind, id, message } of some) {
      output.result(`    ${singular(kind)} ${printable(id)}: ${printable(message)}`);
    }
  }
}

const singular = (kind: SectionName): string => kind.replace('_', ' ').replace(/s$/, '');
