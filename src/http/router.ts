import type { AnyRoute } from './define-route.ts';

export interface Match {
  readonly route: AnyRoute;
  /** As they stand in the path, still percent-encoded. */
  readonly params: Readonly<Record<string, string>>;
}

export type Routed =
  | { readonly kind: 'found'; readonly match: Match }
  | { readonly kind: 'wrong-method'; readonly allow: readonly string[] }
  | { readonly kind: 'unknown' };

interface Pattern {
  /** Literal segments; null where a parameter stands. */
  readonly literals: readonly (string | null)[];
  readonly names: readonly string[];
  readonly routes: Map<string, AnyRoute>;
}

export interface Router {
  route(method: string, path: string): Routed;
}

/** Literal paths win over ones with parameters. `HEAD` is answered by `GET`. */
export function createRouter(routes: readonly AnyRoute[]): Router {
  const fixed = new Map<string, Map<string, AnyRoute>>();
  const patterns = new Map<string, Pattern>();
  for (const route of routes) add(route, fixed, patterns);
  const ordered = [...patterns.values()].sort(byLiterals);

  return {
    route(method, path) {
      const request = method === 'HEAD' ? 'GET' : method;
      const exact = fixed.get(path);
      const found = exact?.get(request);
      if (found) return { kind: 'found', match: { route: found, params: {} } };
      const allow = new Set(exact?.keys());
      const segments = path.split('/');
      for (const pattern of ordered) {
        const params = paramsOf(pattern, segments);
        if (!params) continue;
        const route = pattern.routes.get(request);
        if (route) return { kind: 'found', match: { route, params } };
        for (const name of pattern.routes.keys()) allow.add(name);
      }
      if (allow.size === 0) return { kind: 'unknown' };
      return { kind: 'wrong-method', allow: [...allow, 'OPTIONS'].sort() };
    },
  };
}

function add(
  route: AnyRoute,
  fixed: Map<string, Map<string, AnyRoute>>,
  patterns: Map<string, Pattern>,
): void {
  const segments = route.path.split('/');
  const literals = segments.map((segment) => (segment.startsWith('{') ? null : segment));
  const names = segments.filter((segment) => segment.startsWith('{'));
  const key = literals.map((literal) => literal ?? '{}').join('/');
  const methods = names.length === 0 ? fixed.get(key) : patterns.get(key)?.routes;
  if (methods?.has(route.method)) throw new Error(`two routes for ${route.method} ${route.path}`);
  if (methods) {
    methods.set(route.method, route);
  } else if (names.length === 0) {
    fixed.set(key, new Map([[route.method, route]]));
  } else {
    const routes = new Map([[route.method, route]]);
    patterns.set(key, { literals, names: names.map((name) => name.slice(1, -1)), routes });
  }
}

function paramsOf(pattern: Pattern, segments: readonly string[]): Record<string, string> | null {
  if (pattern.literals.length !== segments.length) return null;
  const params: Record<string, string> = {};
  let next = 0;
  for (const [index, literal] of pattern.literals.entries()) {
    const segment = segments[index] ?? '';
    if (literal === null) {
      if (segment === '') return null;
      params[pattern.names[next] ?? ''] = segment;
      next += 1;
    } else if (literal !== segment) {
      return null;
    }
  }
  return params;
}

/** More literal segments first, and literals further left first. */
function byLiterals(a: Pattern, b: Pattern): number {
  const text = (pattern: Pattern) =>
    pattern.literals.map((literal) => (literal === null ? '1' : '0')).join('');
  return a.names.length - b.names.length || text(a).localeCompare(text(b));
}
