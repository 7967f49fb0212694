import { z } from 'zod';
import type { AnyRoute } from '#http/define-route.ts';
import { text } from '#http/fields.ts';
import { askOptions } from '#http/options.ts';
import { json, succeeded } from '#http/responses.ts';
import { defineRoute } from '../services.ts';
import { deleteVariable, readVariables, setVariable } from './handlers.ts';

const variableShape = z
  .strictObject({
    name: z.string().describe('Name of the variable.'),
    value: z.string().describe('Value of the variable.'),
  })
  .meta({ id: 'Variable', examples: [{ name: 'REGION', value: 'eu' }] });

const path = z.strictObject({
  name: text(1, 256).meta({ description: 'Name of the variable.', examples: ['API_TOKEN'] }),
});
const noStore = { 'cache-control': 'no-store' };

const list = defineRoute({
  method: 'GET',
  path: '/environment-variables',
  credential: 'environment',
  scopes: ['environment:variables:read'],
  summary: 'List the variables of the environment.',
  answers: { 200: json('The variables.', z.array(variableShape)) },
  errors: [],
  async handle({ caller, services }) {
    const body = await readVariables(services.control, services.vault, caller.environmentUid);
    return { status: 200, body, headers: noStore };
  },
});

const set = defineRoute({
  method: 'PUT',
  path: '/environment-variables/{name}',
  credential: 'environment',
  scopes: ['environment:variables:write'],
  summary: 'Set a variable of the environment.',
  description: 'Functions read the new value in their next run.',
  params: path,
  body: z.strictObject({
    value: text(0, 4000).describe('Value of the variable, up to 4,000 characters.'),
  }),
  answers: { 200: json('The variable.', variableShape) },
  errors: ['resource_capped'],
  async handle(input) {
    const { params, body, caller, services } = input;
    const variable = { name: params.name, value: body.value };
    await setVariable(services, caller.environmentUid, variable, askOptions(input));
    return { status: 200, body: variable };
  },
});

const remove = defineRoute({
  method: 'DELETE',
  path: '/environment-variables/{name}',
  credential: 'environment',
  scopes: ['environment:variables:write'],
  summary: 'Delete a variable of the environment.',
  params: path,
  answers: succeeded,
  errors: ['not_found'],
  async handle(input) {
    const { params, caller, services } = input;
    await deleteVariable(services, caller.environmentUid, params.name, askOptions(input));
    return { status: 200, body: { success: true } };
  },
});

export const variableRoutes: readonly AnyRoute[] = [list, set, remove];
