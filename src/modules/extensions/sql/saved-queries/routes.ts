import { z } from 'zod';
import { findCaughtUp, type ControlPlane } from '#control-plane/control-plane.ts';
import type { AnyRoute } from '#http/define-route.ts';
import { text } from '#http/fields.ts';
import { askOptions, repeatableOptions } from '#http/options.ts';
import { representation } from '#http/representation.ts';
import { data, json, succeeded, timestamp } from '#http/responses.ts';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import { isoMillis } from '#kernel/time.ts';
import { defineRoute } from '#modules/operations/services.ts';
import { savedQueryEntity, savedQueryRef } from './entity.ts';
import type { SavedQuery } from './saved-query.ts';

const scopes = { read: ['environment:sql:read'], write: ['environment:sql:write'] };

const path = z.strictObject({
  name: text(1, limits.savedQueryNameCharsMax).meta({
    description: 'Name of the query, unique in its environment.',
    examples: ['Failed runs'],
  }),
});

const shown = representation<SavedQuery>()({
  name: z.string().describe('Name of the query.'),
  description: z.string().describe('What it answers; empty without one.'),
  query: z.string().describe('The SELECT statement.'),
  created_at: [timestamp, ({ createdAt }) => isoMillis(createdAt)],
  updated_at: [timestamp, ({ updatedAt }) => isoMillis(updatedAt)],
});

const savedQueryShape = shown.schema.meta({ id: 'SavedQuery' });
const oneShape = data(savedQueryShape);

/** @throws GatewayError `not_found` */
async function requireQuery(
  { view }: Pick<ControlPlane, 'view'>,
  environmentUid: string,
  name: string,
): Promise<SavedQuery> {
  const found = await findCaughtUp(view, () => view.find(savedQueryRef(environmentUid, name)));
  if (found !== null) return found;
  const message = `The environment has no saved query "${name}". GET /sql/queries lists them.`;
  throw new GatewayError('not_found', { message });
}

const list = defineRoute({
  method: 'GET',
  path: '/sql/queries',
  credential: 'environment',
  scopes: scopes.read,
  summary: 'List the saved queries.',
  answers: { 200: json('All of them, by name.', data(z.array(savedQueryShape))) },
  errors: [],
  async handle({ caller, services }) {
    const all = services.control.view.list(savedQueryEntity, [caller.environmentUid]);
    return { status: 200, body: { data: all.map(({ state }) => shown.of(state)) } };
  },
});

const read = defineRoute({
  method: 'GET',
  path: '/sql/queries/{name}',
  credential: 'environment',
  scopes: scopes.read,
  summary: 'Read a saved query.',
  params: path,
  answers: { 200: json('The saved query.', oneShape) },
  errors: ['not_found'],
  async handle({ params, caller, services }) {
    const one = await requireQuery(services.control, caller.environmentUid, params.name);
    return { status: 200, body: { data: shown.of(one) } };
  },
});

const save = defineRoute({
  method: 'PUT',
  path: '/sql/queries/{name}',
  credential: 'environment',
  scopes: scopes.write,
  summary: 'Save a SQL query.',
  description:
    'For everyone who may query the environment. One of this name is replaced. The query is not run, and its text is not encrypted: keep secrets out of it.',
  params: path,
  body: z.strictObject({
    query: text(1, limits.sqlQueryCharsMax).describe('The SELECT statement.'),
    description: text(0, limits.savedQueryDescriptionCharsMax)
      .default('')
      .describe('What it answers.'),
  }),
  answers: { 200: json('The saved query.', oneShape) },
  errors: ['resource_capped'],
  async handle(input) {
    const { params, body, caller, services } = input;
    const { environmentUid } = caller;
    const ref = savedQueryRef(environmentUid, params.name);
    const command = { type: 'Save' as const, environmentUid, ...params, ...body };
    const requestHash = JSON.stringify([params.name, body]);
    const options = { requestHash, ...askOptions(input) };
    const state = await services.control.execute(ref, command, options);
    if (state === null) throw new GatewayError('server_error');
    return { status: 200, body: { data: shown.of(state) } };
  },
});

const remove = defineRoute({
  method: 'DELETE',
  path: '/sql/queries/{name}',
  credential: 'environment',
  scopes: scopes.write,
  summary: 'Delete a saved query.',
  params: path,
  answers: succeeded,
  errors: ['not_found'],
  async handle(input) {
    const { params, caller, services } = input;
    await requireQuery(services.control, caller.environmentUid, params.name);
    const ref = savedQueryRef(caller.environmentUid, params.name);
    await services.control.execute(ref, { type: 'Delete' }, repeatableOptions(input));
    return { status: 200, body: { success: true } };
  },
});

export const savedQueryRoutes: readonly AnyRoute[] = [list, read, save, remove];
