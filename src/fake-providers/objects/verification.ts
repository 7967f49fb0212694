import type { ReceivedRequest } from '#fake-providers/exchange.ts';
import type { PlayedProvider } from '#fake-providers/play.ts';

type Provider = PlayedProvider['definition'];

/** Whether the request is one with which the gateway tries the credentials of a new connection. */
export function isVerification(
  { proxy }: Provider,
  { method, url }: Pick<ReceivedRequest, 'method' | 'url'>,
): boolean {
  const { method: verified = 'GET', endpoints = [] } = proxy?.verification ?? {};
  if (method !== verified) return false;
  return endpoints.some((endpoint) => {
    const [path = '', query = ''] = endpoint.split('?');
    const isSameQuery = new URLSearchParams(query).toString() === url.searchParams.toString();
    return isSameQuery && endsWithTemplate(url.pathname, path);
  });
}

/** `${name}` of the template stands for a segment. */
function endsWithTemplate(path: string, template: string): boolean {
  const wanted = template.split('/').filter((part) => part !== '');
  const segments = path.split('/').filter((part) => part !== '');
  const tail = segments.slice(segments.length - wanted.length);
  return (
    tail.length === wanted.length &&
    wanted.every((part, at) => part.includes('${') || part === tail[at])
  );
}
