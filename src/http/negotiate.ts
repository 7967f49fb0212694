import Negotiator from 'negotiator';

/** No real client sends this much. A longer header is ignored, because parsing 32 KB of commas takes milliseconds. */
const headerCharsMax = 1024;

/** The first of our codings that an `Accept-Encoding` header allows; null: no coding. */
export function codingFor<C extends string>(
  header: string | undefined,
  codings: readonly C[],
): C | null {
  const allowed = negotiator('accept-encoding', header).encodings(codings);
  return codings.find((coding) => allowed.includes(coding)) ?? null;
}

/** The one of our languages that an `Accept-Language` header prefers; the first of ours without a match. */
export function languageFor<L extends string>(
  header: string | undefined,
  languages: readonly [L, ...L[]],
): L {
  const preferred = negotiator('accept-language', header).language(languages);
  return languages.find((language) => language === preferred) ?? languages[0];
}

function negotiator(name: string, header: string | undefined): Negotiator {
  const isRead = header !== undefined && header.length <= headerCharsMax;
  return new Negotiator({ headers: isRead ? { [name]: header } : {} });
}
