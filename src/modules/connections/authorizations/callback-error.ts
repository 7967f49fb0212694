import { limits } from '#kernel/limits.ts';
import type { Mask } from '#kernel/mask.ts';
import { printable } from '#kernel/printable.ts';
import { redactText } from '#kernel/redact.ts';
import type { CallbackError } from '../credentials/modes/provider-auth-error.ts';

type Texts = Readonly<Record<string, string>>;

/** RFC 6749 section 4.1.2.1; then the names of OAuth 1 problem reporting and of older providers. */
const codeNames = ['error', 'oauth_problem', 'error_code'];
const descriptionNames = ['error_description', 'oauth_problem_advice', 'error_message'];

/** The characters of a code in RFC 6749 section 4.1.2.1. */
const errorCode = /^[ !#-[\]-~]{1,100}$/;

/**
 * The error that the provider returned in place of credentials; null if it returned none. Its sender may be hostile, and
 * providers repeat what they received: the texts are masked, on one line, printable and short.
 */
export function callbackErrorIn(texts: Texts, mask: Mask): CallbackError | null {
  const code = firstOf(texts, codeNames);
  const description = firstOf(texts, descriptionNames);
  if (code === null && description === null) return null;
  return {
    code: code !== null && errorCode.test(code) ? shown(code, mask) : null,
    description: description === null ? null : shown(description, mask),
    uri: addressIn(texts['error_uri'], mask),
  };
}

/** The end of a sentence that begins with the provider: `answered access_denied: Not approved (https://…).` */
export function callbackErrorText({ code, description, uri }: CallbackError): string {
  const what = code === null ? 'answered with an error' : `answered ${code}`;
  const why = description === null ? '' : `: ${withoutPeriod(description)}`;
  return `${what}${why}${uri === null ? '' : ` (${uri})`}.`;
}

const withoutPeriod = (text: string): string => (text.endsWith('.') ? text.slice(0, -1) : text);

function firstOf(texts: Texts, names: readonly string[]): string | null {
  const values = names.map((name) => (texts[name] ?? '').trim());
  return values.find((value) => value !== '') ?? null;
}

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
