import type { AnyRoute } from './define-route.ts';
import type { AnyStreamRoute } from './stream-route.ts';

type PathRoute = Pick<AnyRoute | AnyStreamRoute, 'path' | 'keepsSlash'>;

/**
 * The target of a request without the slash at the end of its path (docs/reference/http.md#paths). A path that
 * ends in `//`, the path `/` and targets of another form, such as `*`, stay.
 */
export function withoutPathSlash(target: string): string {
  const mark = target.indexOf('?');
  const end = mark < 0 ? target.length : mark;
  const isOne = end > 1 && target[end - 1] === '/' && target[end - 2] !== '/';
  return isOne && target[0] === '/' ? target.slice(0, end - 1) + target.slice(end) : target;
}

/** Returns `withoutPathSlash` for a server with these routes: below some of them a slash counts. */
export function createPathSlashRemoval(routes: readonly PathRoute[]): (target: string) => string {
  const kept = routes
    .filter(({ path, keepsSlash }) => keepsSlash === true || path.endsWith('/'))
    .map(({ path }) => path);
  const exact = new Set(kept.filter((path) => !path.includes('{')));
  const prefixes = kept
    .filter((path) => path.includes('{'))
    .map((path) => path.slice(0, path.indexOf('{')));
  return (target) => {
    const found = withoutPathSlash(target);
    if (found === target || exact.has(target.split('?', 1)[0] ?? '')) return target;
    return prefixes.some((prefix) => target.startsWith(prefix)) ? target : found;
  };
}
