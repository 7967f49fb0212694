/** The text without trailing slashes. A regular expression would take quadratic time on a long run of slashes. */
export function withoutTrailingSlashes(url: string): string {
  let end = url.length;
  while (url.endsWith('/', end)) end -= 1;
  return url.slice(0, end);
}
