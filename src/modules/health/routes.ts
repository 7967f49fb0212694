import { defineRoute, type AnyRoute } from '../../http/define-route.ts';

const health = defineRoute({
  method: 'GET',
  path: '/health',
  credential: 'none',
  scopes: [],
  summary: 'Whether the process answers.',
  errors: [],
  isUnlimited: true,
  async handle() {
    return { status: 200, body: { result: 'ok' } };
  },
});

const ready = defineRoute({
  method: 'GET',
  path: '/ready',
  credential: 'none',
  scopes: [],
  summary: 'Whether this node can do its work; the reasons when it cannot.',
  errors: [],
  isUnlimited: true,
  async handle({ services }) {
    const reasons = services.readiness();
    if (reasons.length === 0) return { status: 200, body: { result: 'ok' } };
    return { status: 503, body: { result: 'not ready', reasons } };
  },
});

export const healthRoutes: readonly AnyRoute[] = [health, ready];
