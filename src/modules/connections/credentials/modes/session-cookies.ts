import { Cookie, CookieJar, pathMatch } from 'tough-cookie';
import type { TokenAnswer } from './token-request.ts';

/**
 * The `Cookie` header (RFC 6265 section 4.2) of a session after the responses of its login, for calls to the API; null
 * without a cookie. Of the earlier cookies those stay that no response sets.
 * @param apiUrl base address of the API. A cookie of a domain is for the hosts of that domain; one without a domain is
 *   of the API although another host of the provider may have set it, because the definition says so.
 */
export function sessionCookies(
  answers: readonly Pick<TokenAnswer, 'setCookies' | 'url'>[],
  apiUrl: string,
  earlier: string | null,
): string | null {
  const jar = new CookieJar();
  const names = new Set<string>();
  for (const { setCookies, url } of answers) {
    for (const text of setCookies) {
      const cookie = Cookie.parse(text);
      if (cookie === undefined) continue;
      names.add(cookie.key);
      jar.setCookieSync(cookie, url, { ignoreError: true });
    }
  }
  const urls = new Set(answers.map(({ url }) => url));
  const found = [...urls]
    .flatMap((url) => jar.getCookiesSync(url, { allPaths: true }))
    .filter(({ hostOnly }) => hostOnly === true)
    .concat(jar.getCookiesSync(apiUrl, { allPaths: true }))
    .filter((cookie) => isUnder(cookie, new URL(apiUrl).pathname));
  const kept = (earlier?.split('; ') ?? []).filter(
    (pair) => !names.has(pair.slice(0, Math.max(pair.indexOf('='), 0))),
  );
  const pairs = new Set([...kept, ...found.map((cookie) => cookie.cookieString())]);
  return pairs.size === 0 ? null : [...pairs].join('; ');
}

/** A path of the response above or below the base address: calls go to paths below it. */
function isUnder({ path, pathIsDefault }: Cookie, base: string): boolean {
  if (path === null || pathIsDefault === true) return true;
  return pathMatch(base, path) || pathMatch(path, base);
}
