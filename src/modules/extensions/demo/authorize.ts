import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock } from '#kernel/time.ts';
import { demoClientId } from './definitions.ts';

/** Keyed hash as hex, the same after a restart. */
export type KeyedHash = (purpose: string, text: string) => string;

export interface IssuedTokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly token_type: 'bearer';
  /** Seconds. */
  readonly expires_in: number;
}

const codeMs = 60_000;
const accessSeconds = 3_600;
const codesMax = 1_000;
const familiesMax = 10_000;
const macChars = 32;
const tokenPattern = /^demo_(at|rt)_(\d{1,16})_([0-9a-f]{16})_([0-9a-f]{32})$/;

interface Token {
  readonly kind: string;
  /** Of an access token when it expires, of a refresh token how many were before it. */
  readonly value: number;
  readonly family: string;
}

/**
 * Authorization codes with PKCE (RFC 7636), and tokens whose refresh tokens rotate: one that is used twice ends its
 * family (RFC 9700 section 4.14.2). Tokens carry a keyed hash, so that connections survive a restart.
 */
export class DemoTokens {
  readonly #codes = new LRUCache<string, { readonly challenge: string; readonly until: number }>({
    max: codesMax,
  });
  /** By family: the number of the refresh token that is valid; infinite when the family has ended. */
  readonly #current = new LRUCache<string, number>({ max: familiesMax });
  readonly #clock: Clock;
  readonly #hash: KeyedHash;

  constructor(clock: Clock, hash: KeyedHash) {
    this.#clock = clock;
    this.#hash = hash;
  }

  code(challenge: string): string {
    const code = randomBytes(24).toString('base64url');
    this.#codes.set(code, { challenge, until: this.#clock.now() + codeMs });
    return code;
  }

  /** Null: the code is unknown, used or expired, or the verifier is not that of its challenge. */
  exchange(code: string, verifier: string): IssuedTokens | null {
    const granted = this.#codes.get(code);
    this.#codes.delete(code);
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    if (granted === undefined || granted.until <= this.#clock.now()) return null;
    return isSame(granted.challenge, challenge)
      ? this.#issue(randomBytes(8).toString('hex'), 0)
      : null;
  }

  /** Null: the token is not one of these, or its family has ended. */
  refresh(text: string): IssuedTokens | null {
    const token = this.#parse(text);
    if (token?.kind !== 'rt') return null;
    const { family, value } = token;
    const current = this.#current.get(family) ?? value;
    if (value < current) {
      this.#current.set(family, Infinity);
      return null;
    }
    return this.#issue(family, value + 1);
  }

  isValid(text: string): boolean {
    const token = this.#parse(text);
    if (token?.kind !== 'at' || this.#current.get(token.family) === Infinity) return false;
    return token.value > this.#clock.now();
  }

  #issue(family: string, number: number): IssuedTokens {
    this.#current.set(family, number);
    const until = this.#clock.now() + accessSeconds * 1000;
    return {
      access_token: this.#text({ kind: 'at', value: until, family }),
      refresh_token: this.#text({ kind: 'rt', value: number, family }),
      token_type: 'bearer',
      expires_in: accessSeconds,
    };
  }

  #text({ kind, value, family }: Token): string {
    const mac = this.#hash('demo-token', `${kind} ${value} ${family}`).slice(0, macChars);
    return `demo_${kind}_${value}_${family}_${mac}`;
  }

  #parse(text: string): Token | null {
    const [, kind = '', value = '', family = ''] = tokenPattern.exec(text) ?? [];
    const token = { kind, value: Number(value), family };
    return kind !== '' && isSame(this.#text(token), text) ? token : null;
  }
}

/** In a time that does not depend on where the texts differ. */
export function isSame(first: string, second: string): boolean {
  const [one, other] = [first, second].map((text) => createHash('sha256').update(text).digest());
  return one !== undefined && other !== undefined && timingSafeEqual(one, other);
}

/** A response of the demo provider. */
export interface DemoAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON, a text as HTML. */
  readonly body?: object | string;
}

export const problem = (status: number, code: string, message: string): DemoAnswer => ({
  status,
  body: { error: code, error_description: message },
});

interface Authorization {
  readonly redirectUri: string;
  readonly state: string;
  readonly challenge: string;
}

/**
 * An authorization request (RFC 6749 section 4.1.1 with RFC 7636); null unless it is of the demo's client and leads to
 * the callback of this gateway: nothing else is ever redirected to.
 */
export function authorizationOf(query: URLSearchParams, callback: string): Authorization | null {
  const challenge = query.get('code_challenge') ?? '';
  const isKnown =
    query.get('client_id') === demoClientId &&
    query.get('redirect_uri') === callback &&
    query.get('response_type') === 'code' &&
    query.get('code_challenge_method') === 'S256' &&
    challenge !== '';
  return isKnown ? { redirectUri: callback, state: query.get('state') ?? '', challenge } : null;
}

/** Back to the gateway, with a code or an error. */
export function returnAnswer(
  { redirectUri, state }: Authorization,
  outcome: Readonly<Record<string, string>>,
): DemoAnswer {
  const location = `${redirectUri}?${new URLSearchParams({ ...outcome, state }).toString()}`;
  return { status: 303, headers: { location } };
}

const style = `body{font:16px/1.5 system-ui,sans-serif;max-width:32rem;margin:12vh auto;padding:0 1.5rem}
button{font:inherit;padding:.5rem 1.25rem;border-radius:.5rem;border:1px solid #555;background:#fff;color:#222}
button[value=allow]{background:#0b57d0;border-color:#0b57d0;color:#fff}`;
const styleHash = createHash('sha256').update(style).digest('base64');

const document = (title: string, content: string): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title><style>${style}</style></head><body><main>${content}</main></body></html>`;

/** @param formTarget origin that the answer to a form redirects to */
const policyOf = (formTarget: string): Readonly<Record<string, string>> => ({
  'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; form-action 'self' ${formTarget}; frame-ancestors 'none'; base-uri 'none'`,
  // With no-referrer, browsers send `Origin: null` with the form.
  'referrer-policy': 'same-origin',
});

/** The page with the buttons. Its form goes to the page's own address, so that nothing of the request stands in it. */
export const consentPage = ({ redirectUri }: Authorization): DemoAnswer => ({
  status: 200,
  headers: policyOf(new URL(redirectUri).origin),
  body: document(
    'Demo provider',
    `<h1>Demo provider</h1>
<p>Your gateway asks to read and change the made-up contacts of this demo account. Nothing leaves this machine.</p>
<form method="post"><button name="answer" value="allow">Allow</button> <button name="answer" value="deny">Deny</button></form>`,
  ),
});

export const welcomePage: DemoAnswer = {
  status: 200,
  headers: policyOf("'none'"),
  body: document(
    'Demo provider',
    `<h1>Demo provider</h1>
<p>A fake API of this gateway, for trying it without a network.</p>
<ul><li>GET /contacts?limit=100&amp;after=…</li><li>GET, PATCH and DELETE /contacts/{id}</li>
<li>PUT /webhook {"url": …}</li><li>GET /me</li></ul>
<p>One call in five to /contacts is answered 429 with Retry-After.</p>`,
  ),
};
