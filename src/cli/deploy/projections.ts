import type { Client } from '#client/index.ts';
import { counted } from '#kernel/counted.ts';
import { withoutSourceMap } from '#rules/inline-source-map.ts';
import { projectionHash, type DeployedDefinition } from '#rules/projection-columns.ts';
import type { CompiledProjection } from '../compiler/compile.ts';
import type { Output } from '../output.ts';

/** The effect of a deployment on the projections of the environment, by their names. */
export interface ProjectionPlan {
  readonly created: readonly string[];
  readonly updated: readonly string[];
  readonly unchanged: readonly string[];
  readonly deleted: readonly string[];
}

/** Null: the deployment leaves projections alone. */
export async function planProjections(
  client: Client,
  projections: readonly CompiledProjection[],
  isPruned: boolean,
): Promise<ProjectionPlan | null> {
  if (projections.length === 0 && !isPruned) return null;
  const { data } = await client.request('GET /custom-projections');
  const before = new Map(data.map((one) => [one.name, one.content_hash]));
  const named = (isWanted: (one: CompiledProjection) => boolean): string[] =>
    projections.filter(isWanted).map(({ entry }) => entry.name);
  const isKnown = ({ entry }: CompiledProjection): boolean => before.has(entry.name);
  const isSame = (one: CompiledProjection): boolean =>
    before.get(one.entry.name) === projectionHash(definitionOf(one));
  const wanted = new Set(projections.map(({ entry }) => entry.name));
  return {
    created: named((one) => !isKnown(one)),
    updated: named((one) => isKnown(one) && !isSame(one)),
    unchanged: named(isSame),
    deleted: isPruned ? [...before.keys()].filter((name) => !wanted.has(name)) : [],
  };
}

export const changesNothing = (plan: ProjectionPlan | null): boolean =>
  plan === null || plan.created.length + plan.updated.length + plan.deleted.length === 0;

/** As readable text. */
export function projectionLines(plan: ProjectionPlan | null, paint: Output['paint']): string[] {
  if (plan === null) return [];
  const { created, updated, unchanged, deleted } = plan;
  if (changesNothing(plan)) {
    return [` Nothing to change: ${counted(unchanged.length, 'projection')} as deployed`];
  }
  return [
    ` [Projections +${created.length} ~${updated.length} -${deleted.length}]`,
    ...created.map((name) => paint('green', ` + ${name}`)),
    ...updated.map((name) =>
      paint('yellow', ` ~ ${name}: built beside its table, which it replaces`),
    ),
    ...deleted.map((name) => paint('red', ` - ${name}: its table is dropped`)),
  ];
}

export async function performProjections(
  client: Client,
  projections: readonly CompiledProjection[],
  { created, updated, deleted }: ProjectionPlan,
): Promise<void> {
  const changed = new Set([...created, ...updated]);
  for (const one of projections.filter(({ entry }) => changed.has(entry.name))) {
    const { name, ...body } = definitionOf(one);
    await client.request('PUT /custom-projections/{name}', {
      params: { name },
      body,
    });
  }
  for (const name of deleted) {
    await client.request('DELETE /custom-projections/{name}', { params: { name } });
  }
}

function definitionOf({
  entry,
  definition,
  bundle,
  source,
}: CompiledProjection): DeployedDefinition {
  const { version, description, projection } = definition;
  if (projection === undefined) throw new Error(`${entry.file} is no projection`);
  const { models, integrations, row, key } = projection;
  return {
    ...{ name: entry.name, version, description, models, integrations, row, key },
    ...{ bundle: withoutSourceMap(bundle), source },
  };
}
