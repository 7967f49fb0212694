import { z } from 'zod';
import type { AnyRoute } from '#http/define-route.ts';
import { data, json } from '#http/responses.ts';
import { defineRoute } from '../services.ts';
import { setUpDemo } from './handlers.ts';

const show = defineRoute({
  method: 'GET',
  path: '/demo',
  credential: 'environment',
  scopes: ['environment:deploy'],
  summary: 'Check whether this gateway has the demo provider.',
  answers: {
    200: json(
      'Only on loopback with the embedded log.',
      data(
        z
          .strictObject({
            is_available: z.boolean().describe('Whether this gateway has the demo provider.'),
          })
          .meta({ id: 'Demo' }),
      ),
    ),
  },
  errors: [],
  async handle({ services }) {
    return { status: 200, body: { data: { is_available: services.demo !== null } } };
  },
});

const setUpShape = data(
  z
    .strictObject({
      integrations: z
        .array(
          z.strictObject({
            unique_key: z.string(),
            functions: z.array(z.string()).describe('Names of its functions.'),
          }),
        )
        .describe('The integrations of the demo.'),
    })
    .meta({ id: 'DemoSetUp' }),
);

const setUp = defineRoute({
  method: 'POST',
  path: '/demo',
  credential: 'environment',
  scopes: ['environment:deploy'],
  summary: 'Set up the demo.',
  description: 'Creates the integrations of the demo provider and deploys their functions.',
  answers: { 200: json('What is there now.', setUpShape) },
  errors: ['not_found', 'conflict', 'concurrent_deployment'],
  async handle({ caller, services }) {
    const { environmentUid, actor } = caller;
    const integrations = await setUpDemo(services, environmentUid, { actor });
    return { status: 200, body: { data: { integrations } } };
  },
});

export const demoRoutes: readonly AnyRoute[] = [show, setUp];
