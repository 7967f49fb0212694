import { z } from 'zod';
import { json } from '../../../http/responses.ts';
import type { AnyRoute } from '../../../http/define-route.ts';
import { defineRoute } from '../services.ts';
import { healthResponse, readyResponse } from './responses.ts';

const probed = z.strictObject({
  result: z.string().meta({ examples: ['ok'] }),
  reasons: z.array(z.string()).optional(),
});

const health = defineRoute({
  method: 'GET',
  path: '/health',
  credential: 'none',
  scopes: [],
  summary: 'Whether the process answers.',
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
  summary: 'Whether this node can do its work; the reasons when it cannot.',
  answers: { 200: json('It can.', probed), 503: json('It cannot.', probed) },
  errors: [],
  isUnlimited: true,
  async handle({ services }) {
    return readyResponse(services.readiness());
  },
});

export const healthRoutes: readonly AnyRoute[] = [health, ready];
