import Router, { type RouterContext } from '@koa/router';
import type { Context, Middleware } from 'koa';
import { GatewayError } from '#kernel/errors.ts';
import { setPreflight } from './cors.ts';
import type { AnyRoute } from './define-route.ts';

export interface Match {
  readonly route: AnyRoute;
  /** As they stand in the path, still percent-encoded. */
  readonly params: Readonly<Record<string, string>>;
}

/**
 * Serves the routes. Paths are compared whole and with case, a slash at the end included (`server.ts` removes it); a
 * literal segment wins over a parameter, an earlier route over a later one, and `HEAD` is answered by `GET`. A preflight
 * of a known path is answered here.
 * @param handle answers a request whose route is found
 * @throws GatewayError to the middleware before it: `not_found`, `method_not_allowed` with the header `allow`
 */
export function serveRoutes(
  routes: readonly AnyRoute[],
  handle: (context: Context, match: Match) => Promise<void>,
): Middleware[] {
  const router = new Router({ strict: true, sensitive: true, exclusive: 'specificity' });
  const served = new Set<string>();
  for (const route of routes) {
    const name = `${route.method} ${route.path.replaceAll(parameter, '{}')}`;
    if (served.has(name)) throw new Error(`two routes for ${route.method} ${route.path}`);
    served.add(name);
    const names = [...route.path.matchAll(parameter)].map(([, inner = '']) => inner);
    router.register(koaPath(route), [route.method], (context) =>
      handle(context, { route, params: paramsOf(names, context) }),
    );
  }
  return [router.routes() as Middleware, refuseUnknown];
}

const parameter = /\{(\w+)\}/g;

function koaPath({ path, takesRest }: AnyRoute): string {
  const whole = takesRest ? path.replace(/\{(\w+)\}$/, '{*$1}') : path;
  return whole.replaceAll(parameter, ':$1');
}

/** `context.params` are decoded by the router, which lets through what cannot be decoded. */
function paramsOf(names: readonly string[], { captures = [] }: RouterContext): Match['params'] {
  return Object.fromEntries(names.map((name, at) => [name, captures[at] ?? '']));
}

/** What no route has answered. */
function refuseUnknown(context: Context): void {
  const { matched = [] } = context as unknown as Pick<RouterContext, 'matched'>;
  const methods = new Set(matched.flatMap((layer) => layer.methods));
  if (methods.size === 0) {
    const fix = 'Compare the path with GET /docs/api.';
    throw new GatewayError('not_found', { message: 'The endpoint does not exist.', fix });
  }
  methods.delete('HEAD');
  const allow = [...methods, 'OPTIONS'].sort();
  if (context.method === 'OPTIONS') {
    setPreflight(context, allow);
    return;
  }
  context.set('allow', allow.join(', '));
  throw new GatewayError('method_not_allowed');
}
