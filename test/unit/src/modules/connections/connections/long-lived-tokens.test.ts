import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Sealed } from '#kernel/ids.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import { dayMs, hourMs, minuteMs, type Clock } from '#kernel/time.ts';
import { connection, type ConnectionCommand } from '#modules/connections/connections/decider.ts';
import {
  isDue,
  isRenewedWhileValid,
  isTooYoung,
} from '#modules/connections/connections/freshness.ts';
import {
  connectionDueAt,
  type Connection,
  type Credentials,
} from '#modules/connections/connections/state.ts';
import type {
  ModeContext,
  ObtainedCredentials,
} from '#modules/connections/credentials/modes/mode.ts';
import { ProviderAuthError } from '#modules/connections/credentials/modes/provider-auth-error.ts';
import { authModeRules } from '#modules/connections/credentials/modes/registry.ts';
import {
  longLivedFields,
  openLongLivedTokens,
  type LongLivedTokens,
} from '#test/support/fakes/long-lived-tokens.ts';
import { openHttpClient } from '#test/support/fakes/webhook-receiver.ts';
import { aProvider } from '#test/support/worlds/control.ts';

/** Simulated time. */
let nowMs: number;
const clock: Clock = { now: () => nowMs, nowMicros: () => nowMs * 1000 };
let stack: AsyncDisposableStack;

beforeEach(() => {
  stack = new AsyncDisposableStack();
  nowMs = Date.UTC(2026, 0, 1);
});
afterEach(() => stack.disposeAsync());

const rules = authModeRules.OAUTH2;

/** A connection through the sign-in, as its owner holds it, without anybody who fetches it. */
class Simulated {
  readonly context: ModeContext;
  readonly tokens: LongLivedTokens;
  #state: Connection | null = null;
  #credentials: Credentials = { type: 'OAUTH2' };

  constructor(context: ModeContext, tokens: LongLivedTokens) {
    this.context = context;
    this.tokens = tokens;
  }

  get state(): Connection {
    if (this.#state === null) throw new Error('no connection');
    return this.#state;
  }

  get token(): unknown {
    return this.#credentials['access_token'];
  }

  async signIn(): Promise<void> {
    const redirect = {
      ...this.context,
      callbackUrl: 'http://gateway.test/oauth/callback',
      state: 's',
      scopes: [],
      authorizationParams: {},
      override: null,
    };
    const obtained = await rules.redirect!.finish({ code: 'code' }, {}, redirect);
    this.#hold(obtained, {
      type: 'Import',
      uid: 'u1',
      environmentUid: 'e1',
      integrationKey: 'social',
      connectionId: 'ann',
      provider: 'social',
      authMode: 'OAUTH2',
      credentials: 'sealed' as Sealed<Credentials>,
      fingerprint: 'f',
      expiresAt: obtained.expiresAt,
      connectionConfig: 'cc' as Sealed<JsonObject>,
      isRenewedWhileValid: isRenewedWhileValid(this.context.provider),
      at: nowMs,
      numericId: 1,
    });
  }

  /** What the owner asks for and the service does until the time, in steps of its clock. */
  async liveUntil(end: number): Promise<void> {
    for (;;) {
      const at = connectionDueAt(this.state) ?? Infinity;
      if (at > end) break;
      nowMs = Math.max(nowMs, at);
      this.#decide({ type: 'Tick', at: nowMs });
      await this.refreshIfDue();
    }
    nowMs = end;
  }

  async refreshIfDue(): Promise<void> {
    const { provider } = this.context;
    if (isTooYoung(this.state, provider, nowMs) || !isDue(this.state, provider, nowMs)) return;
    await this.refresh();
  }

  async refresh(): Promise<void> {
    const id = `r${this.tokens.outcomes.length}`;
    const { uid, credentialsVersion } = this.state;
    const spendsToken = rules.renewal!.spendsToken(this.#credentials, this.context.provider);
    const begin = { type: 'BeginRefresh', uid, id, logId: id, spendsToken } as const;
    this.#decide({ ...begin, ifVersion: credentialsVersion, at: nowMs });
    try {
      const obtained = await rules.renewal!.renew(this.#credentials, this.context);
      this.#hold(obtained, {
        type: 'StoreCredentials',
        uid,
        ifVersion: credentialsVersion,
        credentials: 'sealed' as Sealed<Credentials>,
        fingerprint: 'f',
        expiresAt: obtained.expiresAt,
        rotatesToken: null,
        connectionConfig: null,
        at: nowMs,
      });
    } catch (error) {
      if (!(error instanceof ProviderAuthError)) throw error;
      const { isDefinitive, providerStatus, code: errorCode } = error.failure;
      const failure = { isDefinitive, providerStatus, errorCode };
      this.#decide({ type: 'RefreshFailed', uid, id, logId: id, ...failure, at: nowMs });
    }
  }

  #hold(obtained: ObtainedCredentials, command: ConnectionCommand): void {
    this.#credentials = obtained.credentials as Credentials;
    this.#decide(command);
  }

  #decide(command: ConnectionCommand): void {
    let state = this.#state;
    for (const event of connection.decide(command, state)) state = connection.evolve(state, event);
    this.#state = state;
  }
}

async function simulated(
  lifetimeMs: number,
  { minAgeMs = 0, isMinAgeKnown = true } = {},
): Promise<Simulated> {
  const tokens = stack.use(await openLongLivedTokens({ clock, lifetimeMs, minAgeMs }));
  const known = isMinAgeKnown && minAgeMs > 0 ? minAgeMs / 1000 : undefined;
  const provider = aProvider(longLivedFields(tokens.url, known));
  const client = { type: 'OAUTH2', clientId: 'client', clientSecret: 'secret' };
  const http = stack.use(await openHttpClient());
  const one = new Simulated({ provider, client, connectionConfig: {}, http, clock }, tokens);
  await one.signIn();
  return one;
}

describe('a connection of a provider with long-lived tokens', () => {
  it('has the exchanged token after the sign-in', async () => {
    const one = await simulated(60 * dayMs);
    expect(one.tokens.outcomes).toEqual(['granted', 'granted']);
    expect(one.state.expiresAt).toBe(nowMs + 60 * dayMs);
  });

  it.each([
    ['an hour', hourMs],
    ['a day', dayMs],
    ['60 days', 60 * dayMs],
  ])('is connected after 30 days that nobody fetched it, with tokens of %s', async (_, life) => {
    const one = await simulated(life);
    const start = nowMs;
    for (let day = 1; day <= 30; day += 1) {
      await one.liveUntil(start + day * dayMs);
      expect(one.tokens.isLive(one.token)).toBe(true);
    }
    expect(one.state.errors).toEqual([]);
    expect(new Set(one.tokens.outcomes)).toEqual(new Set(['granted']));
  });

  it.each([
    ['that the definition names', true],
    ['of which the definition says nothing', false],
  ])('is never broken by a minimum age %s', async (_, isMinAgeKnown) => {
    const minAgeMs = 55 * minuteMs;
    const one = await simulated(hourMs, { minAgeMs, isMinAgeKnown });
    const start = nowMs;
    for (let hour = 1; hour <= 30 * 24; hour += 1) {
      await one.liveUntil(start + hour * hourMs);
      expect(one.state.errors).toEqual([]);
      expect(one.tokens.isLive(one.token)).toBe(true);
    }
    expect(one.tokens.outcomes.includes('too_young')).toBe(!isMinAgeKnown);
  });

  it('is broken when its token has ended, which the provider refuses', async () => {
    const one = await simulated(hourMs);
    nowMs += 2 * hourMs;
    await one.refresh();
    expect(one.tokens.outcomes.at(-1)).toBe('expired_token');
    expect(one.state.errors).toMatchObject([{ type: 'auth' }]);
  });
});
