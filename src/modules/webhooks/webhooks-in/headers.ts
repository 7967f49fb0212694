/** Prefixes of provider headers that are not forwarded (docs/reference/webhooks-out.md#forward). */
const notForwarded = [
  'host',
  'authorization',
  'connection',
  'keep-alive',
  'content-length',
  'content-type',
  'content-encoding',
  'cookie',
  'set-cookie',
  'referer',
  'user-agent',
  'sec-',
  'proxy-',
  'www-authenticate',
  'server',
  'transfer-encoding',
];

/** The headers that are forwarded to the application. */
export function forwardedHeaders(
  headers: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).filter(
      ([name]) => !notForwarded.some((start) => name.startsWith(start)),
    ),
  );
}
