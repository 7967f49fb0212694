import type { Client } from '#client/index.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import { CommandFailure } from '../exit.ts';
import { inParallel } from '../in-parallel.ts';
import type { Step } from './decision.ts';
import { sectionNames, type Mapping } from './mapping.ts';
import { planImport, type Plan } from './plan.ts';
import { refusedProblem, type Problem } from './problem.ts';
import { readSource } from './read.ts';
import { reportOf, type Report } from './report.ts';
import { SourceFailure, type Source } from './source.ts';
import { patientClient, readTarget } from './target.ts';

export interface ImportRequest {
  readonly client: Client;
  readonly source: Source;
  readonly mapping: Mapping;
  readonly secrets: JsonObject;
  /** Opens the sealed part of an entry of an export. */
  readonly open: Parameters<typeof readSource>[1];
  readonly signal: AbortSignal;
  readonly now: number;
  /** A line that the next one replaces. */
  readonly progress: (text: string) => void;
}

/** What an import would do, and how to do it. */
export interface PlannedImport {
  readonly report: Report;
  /** Applies the plan; a step that is refused is a problem of the report. */
  apply(): Promise<Report>;
}

/**
 * Reads the source and compares it with the environment. Nothing is changed before `apply`.
 * @throws CommandFailure when the source cannot be listed; ApiError
 */
export async function prepareImport(request: ImportRequest): Promise<PlannedImport> {
  const { source, mapping, secrets, now, signal, progress } = request;
  const client = patientClient(request.client, signal);
  const data = await readSource(source, request.open, progress).catch((error: unknown) => {
    if (!(error instanceof SourceFailure)) throw error;
    throw new CommandFailure(`Could not read ${source.name}: ${error.message}`);
  });
  const target = await readTarget(client, data.entries);
  const plan = await planImport(data, { client, mapping, target, secrets, now });
  return {
    report: reportOf(source.name, plan, plan.steps, plan.problems, false),
    async apply() {
      const { done, problems } = await applied(plan, client, request);
      return reportOf(source.name, plan, done, [...plan.problems, ...problems], true);
    },
  };
}

async function applied(
  { steps }: Plan,
  client: Client,
  { signal, progress }: ImportRequest,
): Promise<{ readonly done: readonly Step[]; readonly problems: readonly Problem[] }> {
  const done: Step[] = [];
  const problems: Problem[] = [];
  const order = ['variables', ...sectionNames.filter((name) => name !== 'variables')] as const;
  for (const kind of order) {
    const some = steps.filter((step) => step.kind === kind);
    await inParallel(some, async (step) => {
      signal.throwIfAborted();
      try {
        await step.apply(client);
        done.push(step);
      } catch (error) {
        signal.throwIfAborted();
        const { id } = step;
        problems.push(refusedProblem({ kind, id }, error, step.entry));
      }
      progress(`Writing: ${done.length + problems.length}/${steps.length}`);
    });
  }
  return { done, problems };
}
