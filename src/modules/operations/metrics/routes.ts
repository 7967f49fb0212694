import { content } from '../../../http/responses.ts';
import type { AnyRoute } from '../../../http/define-route.ts';
import { defineRoute } from '../services.ts';

const metrics = defineRoute({
  method: 'GET',
  path: '/metrics',
  credential: 'account',
  scopes: ['account:metrics:read'],
  summary:
    'The figures of this process, and how far projections and consumers are, for Prometheus.',
  answers: { 200: content('In the text format of Prometheus.', 'text/plain') },
  errors: [],
  async handle({ services }) {
    const { text, mediaType } = await services.scrape();
    const headers = { 'content-type': mediaType };
    return { status: 200, body: Buffer.from(text), headers };
  },
});

export const metricsRoutes: readonly AnyRoute[] = [metrics];
