/** Where a part of the service is kept: in this process, or by servers. The settings' URLs name it. */
const embedded = { kind: 'embedded' } as const;
type Embedded = typeof embedded;

type Server = { readonly kind: 'server'; readonly url: string };
export type ServerAddress = Embedded | Server;

/** `embedded:`, or a URL of one of the schemes. */
export function server(...schemes: readonly string[]) {
  const expected = ['embedded:', ...schemes.map((name) => `${name}://host:port`)].join(' or ');
  return (text: string): ServerAddress => {
    if (text === 'embedded:') return embedded;
    const url = URL.canParse(text) ? new URL(text) : null;
    if (url === null || !schemes.includes(url.protocol.slice(0, -1)) || url.hostname === '') {
      throw new Error(`expected ${expected}, got "${maskedUrl(text)}"`);
    }
    return { kind: 'server', url: text };
  };
}

/** An http(s) URL. */
export function webAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return text;
  throw new Error(`expected http://… or https://…, got "${maskedUrl(text)}"`);
}

/** The text without the password of a URL in it. */
export function maskedUrl(text: string): string {
  return text.replace(/(?<=\/\/)(?<user>[^:@/]*):.*@/s, '$<user>:***@');
}
