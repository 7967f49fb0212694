import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock } from '#kernel/time.ts';

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
