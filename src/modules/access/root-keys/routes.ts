import type { AnyRoute } from '#http/define-route.ts';
import { askOptions } from '#http/options.ts';
import { json } from '#http/responses.ts';
import { defineRoute } from '../services.ts';
import { orderRewrap, rootKeyFacts } from './handlers.ts';
import { presentRootKeys, rootKeysShape } from './presenter.ts';

const show = defineRoute({
  method: 'GET',
  path: '/root-keys',
  credential: 'account',
  scopes: ['account:root-keys:read'],
  summary: 'List the root keys.',
  description: 'With the number of data keys that each wraps, and the progress of a rewrap.',
  answers: { 200: json('The root keys.', rootKeysShape) },
  errors: [],
  async handle({ services }) {
    return { status: 200, body: { data: presentRootKeys(await rootKeyFacts(services)) } };
  },
});

const rewrap = defineRoute({
  method: 'POST',
  path: '/root-keys/rewrap',
  credential: 'account',
  scopes: ['account:root-keys:write'],
  summary: 'Start to wrap every data key with the first root key.',
  description: 'Reads and writes go on.',
  answers: { 202: json('It has begun.', rootKeysShape) },
  errors: [],
  async handle(input) {
    const facts = await orderRewrap(input.services, askOptions(input));
    return { status: 202, body: { data: presentRootKeys(facts) } };
  },
});

export const rootKeyRoutes: readonly AnyRoute[] = [show, rewrap];
