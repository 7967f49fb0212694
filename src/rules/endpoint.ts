import type { HttpCall } from '#ports/sandbox.ts';

type Endpoint = Pick<HttpCall, 'endpoint'> & {
  readonly baseUrlOverride?: string | undefined;
  readonly relativeTo?: string | undefined;
};

/**
 * The endpoint of a call with its base: a link resolves against the URL of the request that returned it (RFC 3986,
 * section 5). Without that URL the link is an endpoint like any other.
 */
export function resolveEndpoint(
  call: Endpoint,
): Pick<Endpoint, 'baseUrlOverride'> & Pick<Endpoint, 'endpoint'> {
  const { endpoint, baseUrlOverride, relativeTo } = call;
  const url = relativeTo === undefined ? null : URL.parse(endpoint, relativeTo);
  if (url === null) return { endpoint, baseUrlOverride };
  url.hash = '';
  const path = `${url.pathname}${url.search}`;
  // Scheme, user and password stay, so that the rules for a base refuse them.
  return { endpoint: path, baseUrlOverride: url.href.slice(0, -path.length) };
}
