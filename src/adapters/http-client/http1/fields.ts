/** The characters of a method and of a field name (RFC 9110 section 5.6.2). */
export const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

const ownHeaders = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Whether the client sets this request field itself, or the field is connection-specific (RFC 9110 section 7.6.1).
 * @param name in lower case
 */
export const isOwnHeader = (name: string): boolean =>
  ownHeaders.has(name) || name.startsWith('proxy-');
