import { useLocation } from 'wouter-preact';

/**
 * The parts of the address after `/console/env/<environment>/` or `/console/account/`, decoded: for
 * `/console/env/dev/connections/crm/a%2Fb` they are `connections`, `crm`, `a/b`. The router decodes only some
 * characters, so that the address itself is read.
 */
export function useParts(): readonly string[] {
  useLocation();
  const [, , section, ...rest] = location.pathname.split('/');
  return (section === 'env' ? rest.slice(1) : rest).map(decoded);
}

/** The parts of what `pathOf` made, after an empty one. */
export const partsOf = (path: string): readonly string[] => path.split('/').map(decoded);

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** A path of parts, each encoded. */
export const pathOf = (...parts: readonly string[]): string =>
  parts.map((part) => `/${encodeURIComponent(part)}`).join('');
