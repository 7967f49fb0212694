/** The request of an absolute link, such as the next page of a list. */
export function requestOf(link: string): {
  readonly baseUrlOverride: string;
  readonly endpoint: string;
} {
  const [origin = ''] = /^https?:\/\/[^/?#]+/.exec(link) ?? [];
  return { baseUrlOverride: origin, endpoint: link.slice(origin.length) };
}
