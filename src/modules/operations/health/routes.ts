import { z } from 'zod';
import type { AnyRoute } from '#http/define-route.ts';
import { json } from '#http/responses.ts';
import { defineRoute } from '../services.ts';
import { healthResponse, readyResponse } from './responses.ts';

const probed = z.strictObject({
  result: z.string().meta({
    description: '`ok`, or the state that keeps the node from its work.',
    examples: ['ok'],
  }),
  reasons: z.array(z.string()).optional().describe('Why the node cannot do its work.'),
});

const health = defineRoute({
  method: 'GET',
  path: '/health',
  credential: 'none',
  scopes: [],
  summary: 'Check that the process answers.',
  description:
    'For liveness probes. It does not look at dependencies and is not counted by the rate limit.',
  answers: { 200: json('It answers.', probed) },
  errors: [],
  isUnlimited: true,
  async handle() {
    return healthResponse;
  },
});

const ready = defineRoute({
  method: 'GET',
  path: '/ready',
  credential: 'none',
  scopes: [],
  summary: 'Check that this node can do its work.',
  description:
    'For readiness probes: 503 with `reasons` while the node starts, stops, or has lost a dependency.',
  answers: { 200: json('It can.', probed), 503: json('It cannot.', probed) },
  errors: [],
  isUnlimited: true,
  async handle({ services }) {
    return readyResponse(services.readiness());
  },
});

export const healthRoutes: readonly AnyRoute[] = [health, ready];
