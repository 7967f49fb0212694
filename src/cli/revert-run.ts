import type { Answer, Client } from '#client/index.ts';
import { printable } from '#kernel/printable.ts';
import { confirm } from './account.ts';
import { showRows } from './columns.ts';
import type { Context } from './context.ts';

type Revert = Answer<'POST /runs/{id}/revert'>['data'];

/** Prints what would be reverted, asks, and reverts it. @throws CommandFailure without confirmation */
export async function revertRun(
  context: Context,
  client: Client,
  params: { readonly id: string },
  options: {
    readonly 'dry-run'?: boolean;
    readonly yes?: boolean;
    readonly json?: boolean;
  },
): Promise<void> {
  const revert = async (isDry: boolean): Promise<Revert> =>
    (await client.request('POST /runs/{id}/revert', { params, body: { dry_run: isDry } })).data;
  const planned = await revert(true);
  const isDry = options['dry-run'] === true;
  if (isDry || options.json !== true) await show(context, planned, options.json);
  if (isDry) return;
  await confirm(context, options, 'Revert these changes?');
  const done = await revert(false);
  if (options.json === true) await show(context, done, true);
  else context.output.result(`Reverted, as the run ${done.revert_run_id ?? ''}.`);
}

async function show(context: Context, revert: Revert, isJson: boolean | undefined): Promise<void> {
  const { output } = context;
  if (isJson === true) {
    output.result(JSON.stringify(revert));
    return;
  }
  const kinds = ['deleted', 'updated', 'restored', 'unchanged', 'left'] as const;
  await showRows(
    context,
    false,
    Object.entries(revert.counts),
    ['model', ...kinds],
    ([model, counts]) => [model, ...kinds.map((kind) => counts[kind])],
  );
  for (const { model, id, reason, run_id: runId } of revert.left) {
    output.note(
      `Left alone: ${model} ${printable(id)} (${reason}${runId === null ? '' : ` by ${runId}`})`,
    );
  }
}
