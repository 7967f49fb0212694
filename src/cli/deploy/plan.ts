import type { DeployedItem, DeployPlan } from '../../client/index.ts';
import type { Output } from '../output.ts';

const kinds = [
  ['sync', 'Syncs'],
  ['action', 'Actions'],
  ['on-event', 'OnEvents'],
] as const;

/** Columns of a plan's line before the number of connections. */
const nameColumns = 32;

/** Whether the plan removes something that cannot be restored without a new run. */
export const isDestructive = (plan: DeployPlan): boolean =>
  plan.deleted.length > 0 || plan.deletedModels.length > 0;

/** The effect of the deployment as readable text (docs/reference/cli.md#deployment). */
export function planLines(plan: DeployPlan, paint: Output['paint']): string[] {
  const { created, updated, deleted } = plan;
  if (created.length + deleted.length + plan.deletedModels.length === 0) {
    return updated.length === 0 ? [' Nothing to change'] : [' Only updates', ...summary(plan)];
  }
  const lines = [paint('bold', ' svc will perform this plan:'), ''];
  for (const [type, title] of kinds) {
    const added = created.filter((item) => item.type === type);
    const removed = deleted.filter((item) => item.type === type);
    if (added.length + removed.length === 0) continue;
    lines.push(` [${title} +${added.length} -${removed.length}]`);
    lines.push(...added.map((item) => paint('green', itemLine('+', item))));
    lines.push(...removed.map((item) => paint('red', itemLine('-', item))));
  }
  lines.push('', ...summary(plan));
  if (plan.deletedModels.length > 0) lines.push('', ...modelWarning(plan.deletedModels, paint));
  return lines;
}

function itemLine(sign: '+' | '-', item: DeployedItem): string {
  const line = ` ${sign} ${item.integrationId} -> ${item.name}`;
  if (item.type !== 'sync') return line;
  // A new sync that must be started first affects nothing yet.
  const impacted = sign === '+' && !item.auto_start ? 0 : item.connections;
  return `${line.padEnd(nameColumns)} (${impacted} impacted connections)`;
}

function summary(plan: DeployPlan): string[] {
  const count = (items: readonly DeployedItem[], type: string): number =>
    items.filter((item) => item.type === type).length;
  const rows = kinds.map(
    ([type, title]) =>
      `  ${title.padEnd(8)}  to create [ ${count(plan.created, type)} ]` +
      `  to update [ ${count(plan.updated, type)} ]  to delete [ ${count(plan.deleted, type)} ]`,
  );
  return [' Summary', ...rows];
}

function modelWarning(models: readonly string[], paint: Output['paint']): string[] {
  return [
    paint('red', ` The records of these models will be removed: ${models.join(', ')}`),
    paint(
      'red',
      ' A renamed model is a new one: it starts empty, and the records of the old one are lost.',
    ),
  ];
}

/** The result of a deployment as readable text. */
export function resultLines(
  plan: DeployPlan,
  version: (name: string, type: string, integrationId: string) => string,
): string[] {
  const present = [...plan.created, ...plan.updated, ...plan.unchanged];
  if (present.length === 0) return ['Successfully removed the syncs/actions.'];
  return [
    'Successfully deployed the functions:',
    ...present.map(({ name, type, integrationId }) => {
      const label = version(name, type, integrationId);
      return label === '' ? `- ${name}` : `- ${name}@v${label}`;
    }),
  ];
}
