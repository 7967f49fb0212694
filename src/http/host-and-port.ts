/** As an address names them; an IPv6 address stands in brackets (RFC 3986 section 3.2.2). */
export const hostAndPort = (host: string, port: number): string =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`;
