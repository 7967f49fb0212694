/** The text without the slashes at its end. A regular expression would look at a long run of slashes once for each. */
export function withoutTrailingSlashes(url: string): string {
  let end = url.length;
  while (url.endsWith('/', end)) end -= 1;
  return url.slice(0, end);
}
