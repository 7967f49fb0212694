import type { AnyRoute } from '#http/define-route.ts';
import { content } from '#http/responses.ts';
import { defineRoute } from '../services.ts';

const metrics = defineRoute({
  method: 'GET',
  path: '/metrics',
  credential: 'account',
  scopes: ['account:metrics:read'],
  summary: 'Get the metrics of this process.',
  description: 'In the text format of Prometheus, with the progress of projections and consumers.',
  answers: { 200: content('In the text format of Prometheus.', 'text/plain') },
  errors: [],
  async handle({ services }) {
    const { text, mediaType } = await services.scrape();
    const headers = { 'content-type': mediaType };
    return { status: 200, body: Buffer.from(text), headers };
  },
});

export const metricsRoutes: readonly AnyRoute[] = [metrics];
