import { z } from 'zod';
import type { AnyRoute } from '#http/define-route.ts';
import { connectionId } from '#http/fields.ts';
import { GatewayError } from '#kernel/errors.ts';
import { defineRoute } from '../services.ts';
import { connectionRoutes } from './routes.ts';

/** Served under `/connection` too, with the same bodies (docs/reference/http.md#deprecated-paths). */
const kept = [
  'GET /connections',
  'GET /connections/{connectionId}',
  'DELETE /connections/{connectionId}',
  'POST /connections/metadata',
  'PATCH /connections/metadata',
];

/** docs/reference/http.md#deprecated-paths */
const replacedAt = Date.UTC(2026, 0, 20);
const deprecation = { since: replacedAt, sunset: replacedAt };

const underOldPath = (route: AnyRoute): AnyRoute => ({
  ...route,
  deprecation,
  path: route.path.replace('/connections', '/connection'),
  summary: `${route.summary} Deprecated: use ${route.path}.`,
});

const updateScope = 'environment:connections:update';

const removed = (
  method: 'POST' | 'PATCH',
  path: string,
  scope: string,
  instead: string,
): AnyRoute =>
  defineRoute({
    method,
    path,
    credential: 'environment',
    scopes: [scope],
    summary: `Removed: use ${instead}.`,
    ...(path.includes('{') ? { params: z.strictObject({ connectionId }) } : {}),
    answers: {},
    deprecation,
    errors: ['endpoint_removed'],
    handle: () => {
      const message = `This endpoint was removed; use ${instead}.`;
      return Promise.reject(new GatewayError('endpoint_removed', { message }));
    },
  });

export const deprecatedConnectionRoutes: readonly AnyRoute[] = [
  ...connectionRoutes
    .filter(({ method, path }) => kept.includes(`${method} ${path}`))
    .map(underOldPath),
  removed('POST', '/connection', 'environment:connections:create', 'POST /connections'),
  removed('POST', '/connection/{connectionId}/metadata', updateScope, 'POST /connections/metadata'),
  removed(
    'PATCH',
    '/connection/{connectionId}/metadata',
    updateScope,
    'PATCH /connections/metadata',
  ),
];
