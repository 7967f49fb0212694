/**
 * Headers that say something of the gateway in each of its answers, and of the provider in many of its own: those of
 * the gateway keep the name, those of the provider reach the caller under a prefix, as they would be sent to it.
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
