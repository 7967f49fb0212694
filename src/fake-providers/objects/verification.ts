import type { ReceivedRequest } from '../exchange.ts';
import type { PlayedProvider } from '../play.ts';

type Verification = NonNullable<PlayedProvider['definition']['proxy']>['verification'];

/**
 * Whether the request is one with which the gateway tries the credentials of a new connection.
 * @param ownParameters with which the definition places credentials
 */
export function isVerification(
  verification: Verification,
  { method, url }: Pick<ReceivedRequest, 'method' | 'url'>,
  ownParameters: ReadonlySet<string>,
): boolean {
  const { method: verified = 'GET', endpoints = [] } = verification ?? {};
  if (method !== verified) return false;
  const asked = [...url.searchParams].filter(([name]) => !ownParameters.has(name));
  return endpoints.some((endpoint) => {
    const [path = '', query = ''] = endpoint.split('?');
    const isSameQuery =
      new URLSearchParams(query).toString() === new URLSearchParams(asked).toString();
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
