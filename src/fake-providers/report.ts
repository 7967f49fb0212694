import type { Provider } from '#modules/connections/providers/definition.ts';
import { steps, type EntryOutcome, type StepOutcome } from './play-entry.ts';

/** An entry with what became of it. */
export interface EntryReport {
  readonly definition: Provider;
  readonly outcome: EntryOutcome;
}

const marks: Readonly<Record<string, string>> = { passed: 'ok', undeclared: '-', skipped: '?' };

const markOf = (outcome: StepOutcome): string =>
  typeof outcome === 'string' ? (marks[outcome] ?? outcome) : 'FAIL';

/** One line for each entry, one column for each step; `-`: the definition says nothing of it. */
export function tableOf(reports: readonly EntryReport[]): string {
  const nameWidth = Math.max(5, ...reports.map(({ definition: { name } }) => name.length));
  const modeWidth = Math.max(4, ...reports.map(({ definition }) => definition.auth_mode.length));
  const line = (name: string, mode: string, cells: readonly string[]) =>
    [name.padEnd(nameWidth), mode.padEnd(modeWidth), ...cells.map(padded)].join('  ').trimEnd();
  const padded = (cell: string, at: number) => cell.padEnd(steps[at]?.length ?? 0);
  return [
    line('entry', 'mode', steps),
    ...reports.map(({ definition: { name, auth_mode: mode }, outcome }) =>
      line(
        name,
        mode,
        steps.map((step) => markOf(outcome[step])),
      ),
    ),
  ].join('\n');
}

/** `entry, step: what is wrong`, a line each. */
export const problemsOf = (reports: readonly EntryReport[]): string[] =>
  reports.flatMap(({ definition: { name }, outcome }) =>
    steps.flatMap((step) => {
      const found = outcome[step];
      return typeof found === 'string' ? [] : [`${name}, ${step}: ${found.problem}`];
    }),
  );

/** Lines `group: entries, and of them those that passed each step`, the largest group first. */
export function summaryOf(
  reports: readonly EntryReport[],
  groupsOf: (definition: Provider) => readonly string[],
): string[] {
  const groups = new Map<string, EntryReport[]>();
  for (const report of reports) {
    for (const group of groupsOf(report.definition)) {
      groups.set(group, [...(groups.get(group) ?? []), report]);
    }
  }
  const width = Math.max(...[...groups.keys()].map((group) => group.length));
  return [...groups]
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([group, members]) => {
      const counts = steps.map((step) => {
        const passed = members.filter(({ outcome }) => outcome[step] === 'passed').length;
        return `${step} ${passed}`;
      });
      return `${group.padEnd(width)}  ${String(members.length).padStart(4)}  ${counts.join('  ')}`;
    });
}
