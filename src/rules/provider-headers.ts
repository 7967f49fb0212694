/**
 * Headers that both the gateway and providers set in their responses: those of the gateway keep the name, those of the
 * provider get the prefix.
 */
export const proxyPrefix = 'svc-proxy-';

export const isOfBoth = (name: string): boolean =>
  name === 'x-request-id' || name.startsWith('x-ratelimit-');

/** The headers of a proxied answer as the provider sent them. */
export function providerHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const own = Object.entries(headers).filter(([name]) => !isOfBoth(name));
  return Object.fromEntries(
    own.map(([name, value]) => {
      const bare = name.startsWith(proxyPrefix) ? name.slice(proxyPrefix.length) : name;
      return [isOfBoth(bare) ? bare : name, value];
    }),
  );
}
