import { z } from 'zod';
import type { AnyRoute } from '#http/define-route.ts';
import { integrationKey, jsonObject, modelName, text } from '#http/fields.ts';
import { askOptions } from '#http/options.ts';
import { representation } from '#http/representation.ts';
import { data, json, succeeded, timestamp } from '#http/responses.ts';
import { limits } from '#kernel/limits.ts';
import { isoMillis } from '#kernel/time.ts';
import { projectionNamePattern } from '#rules/projection-columns.ts';
import { untouched, type Projection } from '#streams/projector/projection-state.ts';
import { projectionRef } from '../projections/entity.ts';
import { defineRoute, type OperationsServices } from '../services.ts';
import type { CustomProjection } from './custom-projection.ts';
import {
  deleteProjection,
  deployProjection,
  failuresOf,
  type ProjectionFailures,
} from './handlers.ts';
import { heldBackOf, listCustomProjections } from './queries.ts';

const path = z.strictObject({
  name: z
    .string()
    .regex(projectionNamePattern)
    .meta({ description: 'Name of the projection, and of its view.', examples: ['contacts'] }),
});

interface ShownProjection extends CustomProjection {
  /** Null: its table is not made yet. */
  readonly failures: ProjectionFailures | null;
  readonly of: Projection;
}

const latestOf = ({ versions, latest }: CustomProjection) => {
  const version = versions[latest];
  if (version === undefined) throw new Error('a projection without its latest version');
  return version;
};

function stateOf({ failures, of: projection, latest }: ShownProjection) {
  if (failures === null) return 'starting';
  const active = projection.generations.find(({ number }) => number === projection.active);
  if (active?.state === 'building') return 'filling';
  if (heldBackOf(projection) !== undefined) return 'held';
  if (failures.count > 0) return 'failing';
  return active?.schemaVersion === latest ? 'current' : 'replacing';
}

const failedRecord = z.strictObject({
  integration: z.string(),
  connection_id: z.string(),
  model: z.string(),
  variant: z.string(),
  record_id: z.string().describe('Id of the record.'),
  error: z.string().describe('Why its change could not be mapped.'),
});

const shown = representation<ShownProjection>()({
  name: z.string().describe('Name of the projection, and of its view.'),
  projection: z.string().meta({
    description: 'Its name among the projections of the service.',
    examples: ['dev.contacts'],
  }),
  description: z.string().describe('What its file says of it.'),
  version: [z.string(), (one) => latestOf(one).label],
  models: [z.array(z.string()), (one) => [...latestOf(one).models]],
  integrations: [
    z.array(z.string()).nullable().describe('Null: all of them.'),
    (one) => latestOf(one).integrations?.map(String) ?? null,
  ],
  columns: [
    z
      .array(
        z.strictObject({
          name: z.string().describe('Name of the column.'),
          type: z.string().describe('Its type in ClickHouse.'),
        }),
      )
      .describe('Columns of its view.'),
    (one) => latestOf(one).columns.map(({ name, type }) => ({ name, type })),
  ],
  key: [
    z.array(z.string()).describe('Columns that are unique together; empty: none.'),
    (one) => [...latestOf(one).key],
  ],
  state: [
    z
      .enum(['starting', 'filling', 'current', 'replacing', 'held', 'failing'])
      .describe(
        '`starting`: without a table yet. `filling`: the first table does not have all records yet. `replacing`: a changed mapping is being built. `held`: a changed mapping has been built, but fails for records that the table has rows of, and does not replace it. `failing`: changes of some records could not be mapped.',
      ),
    stateOf,
  ],
  failed_records: [
    z
      .int()
      .describe(
        'Number of records whose last change could not be mapped; with the state `held`, by the mapping that is held back.',
      ),
    ({ failures }) => failures?.count ?? 0,
  ],
  failures: [
    z.array(failedRecord).describe('Some of them, those changed last first.'),
    ({ failures }) => [...(failures?.examples ?? [])],
  ],
  content_hash: [
    z.string().describe('SHA-256 of what is deployed.'),
    ({ contentHash }) => contentHash,
  ],
  deployed_at: [
    timestamp.describe('Time of the last deployment that changed it.'),
    ({ deployedAt }) => isoMillis(deployedAt),
  ],
});

const shape = shown.schema.meta({ id: 'CustomProjection' });

async function present(
  services: OperationsServices,
  environmentUid: string,
  all: readonly CustomProjection[],
) {
  const { view } = services.control;
  // Of the same moment as the choice of the tables whose failures are read.
  const states = all.map((custom) => ({
    ...custom,
    of: view.find(projectionRef(custom.projection)) ?? untouched(custom.projection),
  }));
  const failures = await failuresOf(services, environmentUid);
  return states.map((custom) =>
    shown.of({ ...custom, failures: failures.get(custom.name) ?? null }),
  );
}

const list = defineRoute({
  method: 'GET',
  path: '/custom-projections',
  credential: 'environment',
  scopes: ['environment:sql:read', 'environment:deploy'],
  summary: 'List the projections that projects have deployed.',
  description: 'With the records that they could not map.',
  answers: { 200: json('The projections.', data(z.array(shape))) },
  errors: [],
  async handle({ caller, services }) {
    await services.control.view.caughtUp();
    const { environmentUid } = caller;
    const all = listCustomProjections(services.control.view, environmentUid);
    return { status: 200, body: { data: await present(services, environmentUid, all) } };
  },
});

const deploy = defineRoute({
  method: 'PUT',
  path: '/custom-projections/{name}',
  credential: 'environment',
  scopes: ['environment:deploy'],
  summary: 'Deploy a projection of a project.',
  description:
    'Its table is filled from the log. A changed mapping is built beside the table that is read, and replaces it once it has caught up, unless it fails for records that the table has rows of.',
  params: path,
  body: z.strictObject({
    version: text(0, 255).default('').describe('Label of the version.'),
    description: text(0, 2000).default('').describe('Description of the projection.'),
    models: z.array(modelName).min(1).max(100).describe('Models of which it takes the records.'),
    integrations: z
      .array(integrationKey)
      .min(1)
      .max(1000)
      .nullable()
      .default(null)
      .describe('Integrations whose records it takes; null: all.'),
    row: jsonObject.meta({
      description: 'JSON Schema of a row, draft 7.',
      examples: [
        { type: 'object', properties: { email: { type: 'string' } }, required: ['email'] },
      ],
    }),
    key: z
      .array(text(1, 60))
      .max(20)
      .default([])
      .meta({
        description: 'Columns that are unique together; empty: none.',
        examples: [['email']],
      }),
    bundle: text(1, limits.projectionBundleCharsMax).describe('The bundle.'),
    source: text(0, limits.projectionBundleCharsMax).describe(
      'The TypeScript source of the entry file.',
    ),
  }),
  answers: { 200: json('The projection.', data(shape)) },
  errors: ['conflict', 'resource_capped'],
  async handle(input) {
    const { params, body, caller, services } = input;
    const { environmentUid } = caller;
    const definition = { name: params.name, ...body };
    const deployed = await deployProjection(
      services,
      environmentUid,
      definition,
      askOptions(input),
    );
    const [presented] = await present(services, environmentUid, [deployed]);
    if (presented === undefined) throw new Error('a projection was not presented');
    return { status: 200, body: { data: presented } };
  },
});

const remove = defineRoute({
  method: 'DELETE',
  path: '/custom-projections/{name}',
  credential: 'environment',
  scopes: ['environment:deploy'],
  summary: 'Delete a projection of a project.',
  description: 'Its view, tables, generations and positions are removed.',
  params: path,
  answers: succeeded,
  errors: ['not_found'],
  async handle(input) {
    const { params, caller, services } = input;
    await deleteProjection(services, caller.environmentUid, params.name, askOptions(input));
    return { status: 200, body: { success: true } };
  },
});

export const customProjectionRoutes: readonly AnyRoute[] = [list, deploy, remove];
