import type { DeployedItem, DeployPlan, DeployPreview } from '#client/index.ts';
import { counted } from '#kernel/counted.ts';
import { printable } from '#kernel/printable.ts';
import type { Output } from '../output.ts';
import { changeTexts, fieldTexts } from './changes.ts';

const kinds = [
  ['sync', 'Syncs'],
  ['action', 'Actions'],
  ['on-event', 'OnEvents'],
  ['on-change', 'OnChanges'],
] as const;

/** Columns of a plan's line before the number of connections. */
const nameColumns = 32;

/** Whether the plan removes something that cannot be restored without a new run. */
export const isDestructive = (plan: DeployPlan): boolean =>
  plan.deleted.length > 0 || plan.deletedModels.length > 0;

/** Whether the plan changes no function. */
export const isEmpty = (plan: DeployPlan): boolean =>
  plan.created.length + plan.updated.length === 0 && !isDestructive(plan);

/** The effect of the deployment as readable text (docs/reference/cli.md#deployment). */
export function planLines(plan: DeployPreview, paint: Output['paint']): string[] {
  const { created, updated, unchanged } = plan;
  if (isEmpty(plan)) {
    const functions = counted(unchanged.length, 'function');
    const pending =
      ' The syncs of connections are behind an interrupted deployment, and follow now.';
    return [
      ` Nothing to change: ${functions} as deployed`,
      ...(plan.syncs_pending ? [pending] : []),
    ];
  }
  const isUpdate = created.length === 0 && !isDestructive(plan);
  const heading = isUpdate ? ' Only updates' : paint('bold', ' svc will perform this plan:');
  const lines = [heading, ''];
  for (const [type, title] of kinds) {
    const added = created.filter((item) => item.type === type);
    const changed = updated.filter((item) => item.type === type);
    const removed = plan.deleted.filter((item) => item.type === type);
    if (added.length + changed.length + removed.length === 0) continue;
    const changes = changed.length === 0 ? '' : ` ~${changed.length}`;
    lines.push(` [${title} +${added.length}${changes} -${removed.length}]`);
    lines.push(...added.map((item) => paint('green', itemLine('+', item))));
    for (const item of changed) {
      const texts = changeTexts(item.changes).map((text) => `     ${text}`);
      lines.push(paint('yellow', ` ~ ${item.integrationId} -> ${item.name}`), ...texts);
    }
    lines.push(...removed.map((item) => paint('red', itemLine('-', item))));
  }
  lines.push('', ...summary(plan));
  if (plan.deletedModels.length > 0) lines.push('', ...modelWarning(plan.deletedModels, paint));
  if (plan.breaking.length > 0) lines.push('', ...breakingLines(plan, paint));
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

/** Each model with the fields that its readers lose, and the readers that the service knows. */
function breakingLines({ breaking }: DeployPlan, paint: Output['paint']): string[] {
  return [
    paint('red', ' These changes break readers of records:'),
    ...breaking.flatMap(({ integrationId, model, fields, readers }) => {
      const existing = [
        ['API keys', readers.api_keys],
        ['webhook endpoints', readers.webhook_endpoints],
        ['typed topics', readers.typed_topics],
      ] as const;
      const named = existing.flatMap(([what, names]) =>
        names.length === 0 ? [] : [`     ${what}: ${names.map(printable).join(', ')}`],
      );
      return [
        paint('red', `   ${model} of ${integrationId}: ${fieldTexts(fields)}`),
        ...(named.length === 0 ? ['     no reader is known'] : named),
      ];
    }),
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
