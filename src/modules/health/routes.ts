import { defineRoute, type AnyRoute } from '../../http/define-route.ts';
import { healthAnswer, readyAnswer } from './answers.ts';

const health = defineRoute({
  method: 'GET',
  path: '/health',
  credential: 'none',
  scopes: [],
  summary: 'Whether the process answers.',
  errors: [],
  isUnlimited: true,
  async handle() {
    return healthAnswer;
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
    return readyAnswer(services.readiness());
  },
});

export const healthRoutes: readonly AnyRoute[] = [health, ready];
