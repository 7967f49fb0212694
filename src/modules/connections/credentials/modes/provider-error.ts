import { atPath } from '#kernel/json-path.ts';
import { limits } from '#kernel/limits.ts';
import { Mask } from '#kernel/mask.ts';
import { printable } from '#kernel/printable.ts';
import { redactText } from '#kernel/redact.ts';
import type { JsonObject } from '#kernel/stable-json.ts';

/** What a provider answered in place of credentials, for people: cleaned, shortened and masked. */
export interface ProviderError {
  readonly code: string | null;
  readonly description: string | null;
  /** An http address that explains the error. */
  readonly uri: string | null;
}

/** Texts of a provider that are not cleaned yet. */
interface ProviderTexts {
  readonly code: string | null;
  readonly description: string | null;
  readonly uri?: string | null | undefined;
}

/** Where token endpoints describe a refusal (RFC 6749 section 5.2, and those of providers). */
const descriptionPaths = [
  'error_description',
  'error.message',
  'error_message',
  'message',
  'detail',
  'error.description',
  'Error.Message', // AWS
];

/** Shorter values stand in ordinary words. */
const secretCharsMin = 3;

/**
 * The refusal in the response to a token call.
 * @param presented secrets of the call, which a provider may repeat
 */
export function tokenErrorOf(
  body: JsonObject,
  code: string | null,
  presented: readonly string[],
): ProviderError | null {
  const mask = new Mask();
  for (const secret of presented) mask.add(secret);
  const description = descriptionPaths
    .map((path) => atPath(body, path))
    .find((text) => typeof text === 'string' && text.trim() !== '' && text !== code);
  const uri = atPath(body, 'error_uri');
  const found = providerErrorOf(
    {
      code,
      description: typeof description === 'string' ? description : null,
      uri: typeof uri === 'string' ? uri : null,
    },
    mask,
  );
  // A mask passes over short values: a text with one of them is left out.
  const repeats = presented.some(
    (secret) => secret.length >= secretCharsMin && found?.description?.includes(secret) === true,
  );
  return found !== null && repeats ? { ...found, description: null } : found;
}

/** The characters of a code in RFC 6749 section 4.1.2.1. */
const errorCode = /^[ !#-[\]-~]{1,100}$/;

/**
 * Null if there is no text. Its sender may be hostile, and providers repeat what they received: the texts are masked, on
 * one line, printable and short.
 */
export function providerErrorOf(
  { code, description, uri }: ProviderTexts,
  mask: Mask,
): ProviderError | null {
  if (code === null && description === null) return null;
  return {
    code: code !== null && errorCode.test(code) ? shown(code, mask) : null,
    description: description === null ? null : shown(description, mask),
    uri: addressIn(uri ?? undefined, mask),
  };
}

/** The end of a sentence that begins with the provider: `answered access_denied: Not approved (https://…).` */
export function providerErrorText({ code, description, uri }: ProviderError): string {
  const what = code === null ? 'answered with an error' : `answered ${code}`;
  const why = description === null ? '' : `: ${withoutPeriod(description)}`;
  return `${what}${why}${uri === null ? '' : ` (${uri})`}.`;
}

export const withoutPeriod = (text: string): string =>
  text.endsWith('.') ? text.slice(0, -1) : text;

function shown(text: string, mask: Mask): string {
  const clean = redactText(mask.text(text)).replaceAll(/\s+/g, ' ').trim();
  return shortened(printable(clean));
}

function shortened(text: string): string {
  const max = limits.providerErrorCharsMax;
  if (text.length <= max) return text;
  const characters = Array.from(text.slice(0, 2 * max + 2));
  return characters.length <= max ? text : `${characters.slice(0, max - 1).join('')}…`;
}

/** Without user and password. A long one is left out, because the part that remains is another address. */
function addressIn(text: string | undefined, mask: Mask): string | null {
  const url = URL.parse(text ?? '');
  if (url === null || !/^https?:$/.test(url.protocol)) return null;
  if (url.username !== '' || url.password !== '') return null;
  const address = redactText(mask.text(url.href));
  return address.length <= limits.providerErrorCharsMax ? address : null;
}
