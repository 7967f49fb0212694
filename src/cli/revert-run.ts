import type { JsonObject } from '../kernel/stable-json.ts';
import { confirm } from './account.ts';
import type { ApiClient } from './client.ts';
import type { Context } from './context.ts';
import { showRows } from './service-command.ts';

/** @see src/modules/functions/runs/shapes.ts */
interface ShownRevert {
  readonly revert_run_id: string | null;
  readonly counts: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly left: readonly (JsonObject & {
    readonly model: string;
    readonly id: string;
    readonly reason: string;
    readonly run_id: string | null;
  })[];
}

/** Prints what would be reverted, asks, and reverts it. @throws CommandFailure without confirmation */
export async function revertRun(
  context: Context,
  client: ApiClient,
  path: string,
  options: {
    readonly 'dry-run'?: boolean;
    readonly yes?: boolean;
    readonly json?: boolean;
  },
): Promise<void> {
  const prompt = async (isDry: boolean): Promise<ShownRevert> => {
    const answer = await client.call('POST', `${path}/revert`, { dry_run: isDry });
    // The API guarantees the shape.
    return (answer as unknown as { readonly data: ShownRevert }).data;
  };
  const planned = await prompt(true);
  const isDry = options['dry-run'] === true;
  if (isDry || options.json !== true) show(context, planned, options.json);
  if (isDry) return;
  await confirm(context, options, 'Take this back?');
  const done = await prompt(false);
  if (options.json === true) show(context, done, true);
  else context.output.result(`Reverted, as the run ${done.revert_run_id ?? ''}.`);
}

function show(context: Context, revert: ShownRevert, isJson: boolean | undefined): void {
  const { output } = context;
  if (isJson === true) {
    output.result(JSON.stringify(revert));
    return;
  }
  const heads = ['model', 'deleted', 'updated', 'restored', 'unchanged', 'left'];
  showRows(context, false, Object.entries(revert.counts), heads, ([model, counts]) => [
    model,
    ...heads.slice(1).map((name) => counts[name] ?? 0),
  ]);
  for (const { model, id, reason, run_id: runId } of revert.left) {
    output.note(`Left alone: ${model} ${id} (${reason}${runId === null ? '' : ` by ${runId}`})`);
  }
}
