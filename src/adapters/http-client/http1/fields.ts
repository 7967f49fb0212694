/** What a method and the name of a field are made of (RFC 9110 section 5.6.2). */
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
 * Whether a field of a request is the client's own to say, or of one connection only (RFC 9110 section 7.6.1).
 * @param name in lower case
 */
export const isOwnHeader = (name: string): boolean =>
  ownHeaders.has(name) || name.startsWith('proxy-');
