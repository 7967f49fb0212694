import { randomBytes } from 'node:crypto';
import { systemClock } from '#kernel/time.ts';
import { demand, invalidGrant } from './exchange.ts';
import type { Stage } from './rules.ts';

export const secret = (prefix: string): string => `${prefix}-${randomBytes(12).toString('hex')}`;

export interface IssuedTokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  /** Seconds. */
  readonly expiresIn: number;
}

/** Access and refresh tokens of one provider, in families that end together (RFC 9700 section 4.14.2). */
export class TokenStore {
  readonly #access = new Map<string, { readonly family: string; readonly until: number }>();
  readonly #refresh = new Map<string, { readonly family: string; isUsed: boolean }>();
  readonly #ended = new Set<string>();
  readonly #isRotating: boolean;
  readonly #stage: Pick<Stage, 'lifetime'>;

  constructor(stage: Pick<Stage, 'options' | 'lifetime'>) {
    this.#isRotating = stage.options.isRotating ?? true;
    this.#stage = stage;
  }

  issue(family: string = secret('family')): IssuedTokens {
    const accessToken = this.issueAccess(family);
    const refreshToken = secret('rt');
    this.#refresh.set(refreshToken, { family, isUsed: false });
    return { accessToken, refreshToken, expiresIn: this.#stage.lifetime };
  }

  issueAccess(family: string = secret('family')): string {
    const token = secret('at');
    this.#access.set(token, { family, until: systemClock.now() + this.#stage.lifetime * 1000 });
    return token;
  }

  /** Shown twice, a token that rotates ends its whole family. @throws Refusal */
  renew(shown: unknown): IssuedTokens {
    const known = typeof shown === 'string' ? this.#refresh.get(shown) : undefined;
    demand(known !== undefined, 'unknown_refresh_token', invalidGrant);
    if (known.isUsed) this.endFamily(known.family);
    demand(!known.isUsed, 'reused_refresh_token', invalidGrant);
    demand(!this.#ended.has(known.family), 'ended_family', invalidGrant);
    known.isUsed = this.#isRotating;
    if (this.#isRotating) return this.issue(known.family);
    const accessToken = this.issueAccess(known.family);
    return { accessToken, refreshToken: String(shown), expiresIn: this.#stage.lifetime };
  }

  endFamily(family: string): void {
    this.#ended.add(family);
    for (const [token, of] of this.#access) if (of.family === family) this.#access.delete(token);
  }

  /** Ends the token with its family; false: it is not known, or has ended. */
  revoke(token: string): boolean {
    const family = (this.#access.get(token) ?? this.#refresh.get(token))?.family;
    if (family === undefined || this.#ended.has(family)) return false;
    this.endFamily(family);
    return true;
  }

  /** Access tokens alone: what they were renewed with stays good. */
  endAccess(): void {
    this.#access.clear();
  }

  /** Milliseconds since the epoch; null: the token is not known, or ended. */
  endOf(token: unknown): number | null {
    const { until = 0 } = this.#access.get(String(token)) ?? {};
    return until > systemClock.now() ? until : null;
  }

  live(): string[] {
    const now = systemClock.now();
    return [...this.#access].filter(([, { until }]) => until > now).map(([token]) => token);
  }
}
