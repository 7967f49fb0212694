import { describe, expect, it } from 'vitest';
import type { Sealed } from '#kernel/ids.ts';
import { limits } from '#kernel/limits.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import { dayMs } from '#kernel/time.ts';
import { connection, type ImportConnection } from '#modules/connections/connections/decider.ts';
import {
  neverRefreshed,
  type Credentials,
  type RefreshState,
} from '#modules/connections/connections/state.ts';
import { given } from '#test/support/judges/given.ts';

const made = (more: Partial<ImportConnection> = {}, refresh: RefreshState = neverRefreshed) => {
  const create: ImportConnection = {
    type: 'Import',
    uid: 'u1',
    environmentUid: 'e1',
    integrationKey: 'crm',
    connectionId: 'acme',
    provider: 'crm',
    authMode: 'API_KEY',
    credentials: 'c1' as Sealed<Credentials>,
    fingerprint: 'f1',
    expiresAt: null,
    connectionConfig: 'cc' as Sealed<JsonObject>,
    at: 1,
    numericId: 3,
    ...more,
  };
  const state = given(connection).when(create).state();
  if (state === null) throw new Error('not made');
  return { type: 'ConnectionCreated', connection: { ...state, refresh } } as const;
};

describe('a connection that nobody fetches', () => {
  const tick = (at: number) => ({ type: 'Tick', at }) as const;
  const due = (at: number) => ({ type: 'RefreshDue', at }) as const;

  it('is to be refreshed a day after its last fetch, and once it has expired', () => {
    const short = made({ expiresAt: 1000 });
    given(connection, short).when(tick(dayMs)).then();
    given(connection, short)
      .when(tick(dayMs + 1))
      .then(due(dayMs + 1));
    const long = made({ expiresAt: 3 * dayMs });
    given(connection, long)
      .when(tick(3 * dayMs - 1))
      .then();
    given(connection, long)
      .when(tick(3 * dayMs))
      .then(due(3 * dayMs));
    const fetched = { type: 'ConnectionFetched', fetchedAt: dayMs } as const;
    given(connection, short, fetched)
      .when(tick(2 * dayMs - 1))
      .then();
  });

  it('is asked for once a day while that does not succeed, and not when it is exhausted', () => {
    const short = made({ expiresAt: 1000 });
    given(connection, short, due(2 * dayMs))
      .when(tick(3 * dayMs - 1))
      .then();
    given(connection, short, due(2 * dayMs))
      .when(tick(3 * dayMs))
      .then(due(3 * dayMs));
    const failureDays = limits.refreshFailureDaysMax;
    const exhausted = made({ expiresAt: 1000 }, { ...neverRefreshed, failureDays });
    given(connection, exhausted)
      .when(tick(9 * dayMs))
      .then();
  });

  it('that has no end is left alone', () => {
    given(connection, made())
      .when(tick(9 * dayMs))
      .then();
  });

  it('that has no end is tried once a day where its provider can be asked', () => {
    const key = made({ isTested: true });
    given(connection, key).when(tick(dayMs)).then();
    given(connection, key)
      .when(tick(dayMs + 1))
      .then(due(dayMs + 1));
    given(connection, key, due(2 * dayMs))
      .when(tick(3 * dayMs - 1))
      .then();
  });
});

describe('credentials that were tried', () => {
  const tested = { type: 'Tested', uid: 'u1', ifVersion: 1, at: 5 } as const;
  const refusal = { logId: 'l1', providerStatus: 401 };
  const refused = {
    type: 'CredentialsRefused',
    error: { type: 'auth', log_id: 'l1' },
    errorCode: 'connection_test_failed',
    providerStatus: 401,
    at: 5,
  } as const;

  it('are an error while the provider refuses them, which days of refusals exhaust', () => {
    given(connection, made())
      .when({ ...tested, refusal })
      .then(refused);
    const state = given(connection, made())
      .when({ ...tested, refusal })
      .state();
    expect(state).toMatchObject({ errors: [refused.error], refresh: { failureDays: 1 } });
  });

  it('are well again when it takes them, and say nothing where nothing was wrong', () => {
    const well = { ...tested, refusal: null };
    given(connection, made()).when(well).then();
    const after = given(connection, made(), refused).when(well);
    after.then({ type: 'ErrorCleared', errorType: 'auth', at: 5 });
    expect(after.state()).toMatchObject({
      errors: [],
      refresh: { failedAt: null, failureDays: 0 },
    });
  });

  it('say nothing of others that were stored meanwhile', () => {
    given(connection, made())
      .when({ ...tested, ifVersion: 0, refusal })
      .then();
  });
});
