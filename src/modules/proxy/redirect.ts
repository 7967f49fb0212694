import { GatewayError } from '#kernel/errors.ts';
import type { ProviderRequest } from '#modules/connections/providers/inject.ts';
import type { Destination } from '#ports/http-client.ts';

/** A call ready for the HTTP client. */
export interface ProxyRequest extends Omit<ProviderRequest, 'url' | 'headers'> {
  readonly url: Destination;
  readonly headers: Readonly<Record<string, string>>;
}

export interface RedirectedRequest {
  readonly request: ProxyRequest;
  /** 303, and 301 or 302 for a POST, continue as GET (RFC 9110 section 15.4). */
  readonly isWithoutBody: boolean;
}

/**
 * The next hop. Credentials are dropped when it leaves the origin, unless the caller or the provider's
 * definition wants them kept.
 * @throws GatewayError `url_not_allowed`: no http URL
 */
export function redirectedTo(
  request: ProxyRequest,
  { status, location }: { readonly status: number; readonly location: string },
  keepsHeaders: boolean,
): RedirectedRequest {
  const url = URL.canParse(location, request.url.href) ? new URL(location, request.url.href) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    const message = 'The provider redirects to an address that is not an http URL.';
    throw new GatewayError('url_not_allowed', { message });
  }
  const isPost = request.method === 'POST';
  const isWithoutBody = status === 303 || ((status === 301 || status === 302) && isPost);
  const dropped = new Set(
    url.origin !== request.url.origin && !keepsHeaders ? request.credentialHeaders : [],
  );
  const ofBody = isWithoutBody ? ['content-type', 'content-encoding'] : [];
  const headers = Object.fromEntries(
    Object.entries(request.headers).filter(
      ([name]) => !dropped.has(name) && !ofBody.includes(name),
    ),
  );
  const { body, ...rest } = request;
  const next = { ...rest, url, headers, method: isWithoutBody ? 'GET' : request.method };
  return {
    request: isWithoutBody || body === undefined ? next : { ...next, body },
    isWithoutBody,
  };
}
