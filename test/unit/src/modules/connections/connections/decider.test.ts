import { describe, expect, it } from 'vitest';
import type { Sealed } from '#kernel/ids.ts';
import { limits } from '#kernel/limits.ts';
import type { Json, JsonObject } from '#kernel/stable-json.ts';
import { dayMs } from '#kernel/time.ts';
import { connection, type ImportConnection } from '#modules/connections/connections/decider.ts';
import {
  endUserTags,
  neverRefreshed,
  normalizeTags,
  type Credentials,
  type RefreshState,
} from '#modules/connections/connections/state.ts';
import { given } from '#test/support/judges/given.ts';

const sealed = (text: string) => text as Sealed<Credentials>;
const value = (text: string) => text as Sealed<Json>;
const create = (more: Partial<ImportConnection> = {}): ImportConnection => ({
  type: 'Import',
  uid: 'u1',
  environmentUid: 'e1',
  integrationKey: 'crm',
  connectionId: 'acme',
  provider: 'crm',
  authMode: 'API_KEY',
  credentials: sealed('c1'),
  fingerprint: 'f1',
  expiresAt: null,
  connectionConfig: 'cc' as Sealed<JsonObject>,
  at: 1,
  numericId: 3,
  ...more,
});
const made = (more: Partial<ImportConnection> = {}) => {
  const state = given(connection).when(create(more)).state();
  if (state === null) throw new Error('not made');
  return { type: 'ConnectionCreated', connection: state } as const;
};
const withRefresh = (refresh: RefreshState) => {
  const { type, connection: state } = made();
  return { type, connection: { ...state, refresh } } as const;
};
const authError = { type: 'auth', log_id: 'l1' } as const;

describe('an import', () => {
  it('creates the connection with its number and lower-case tags', () => {
    const state = given(connection)
      .when(create({ tags: { Team: 'X' } }))
      .state();
    expect(state).toMatchObject({ id: 3, tags: { team: 'X' }, credentialsVersion: 1, errors: [] });
  });

  it('gives a known connection new credentials, keeps what is not sent and ends its auth error', () => {
    const refused = {
      type: 'CredentialsRefused',
      error: authError,
      errorCode: null,
      providerStatus: null,
      at: 2,
    } as const;
    const known = given(connection, made({ metadata: { a: value('1') } }), refused);
    expect(known.state?.errors).toEqual([authError]);
    const state = known.when(create({ credentials: sealed('c2'), numericId: 9, at: 3 })).state();
    expect(state).toMatchObject({
      id: 3,
      credentials: 'c2',
      credentialsVersion: 2,
      metadata: { a: '1' },
      errors: [],
      updatedAt: 3,
    });
  });

  it('is refused when it was sealed under the key of another connection', () => {
    given(connection, made())
      .when(create({ uid: 'u2' }))
      .refused('conflict');
  });

  it('is refused while the connection is being deleted', () => {
    given(connection, made(), { type: 'ConnectionDeletionBegun', at: 2 })
      .when(create())
      .refused('conflict');
  });
});

describe('a validation', () => {
  const lateAt = 1 + limits.eventStartByMs + 2 * limits.eventRunMaxMs;
  const pending = made({ isToBeValidated: true });

  it('that nobody ended deletes a new connection, and marks a known one', () => {
    given(connection, pending)
      .when({ type: 'Tick', at: lateAt - 1 })
      .then();
    given(connection, pending)
      .when({ type: 'Tick', at: lateAt })
      .then({ type: 'ConnectionDeletionBegun', at: lateAt });
    const again = create({ isToBeValidated: true, credentials: sealed('c2') });
    const state = given(connection, made()).when(again).state();
    expect(state?.validating).toEqual({ isNew: false, since: 1 });
    const [event] = connection.decide({ type: 'Tick', at: lateAt }, state);
    expect(event).toMatchObject({ errorCode: 'connection_validation_failed' });
  });

  it('is published to a connection once', () => {
    const confirm = { type: 'Confirm', uid: 'u1', at: 5 } as const;
    const validated = { type: 'ConnectionValidated', isNew: true, at: 5 } as const;
    given(connection, pending).when(confirm).then(validated);
    given(connection, pending, validated).when(confirm).then();
    given(connection, made()).when({ type: 'Refuse', uid: 'u1', logId: 'l1', at: 5 }).then();
  });

  it('of a connection that is not published yet continues with other credentials', () => {
    const state = given(connection, pending)
      .when(create({ at: 4 }))
      .state();
    expect(state?.validating).toEqual({ isNew: true, since: 1 });
  });
});

describe('metadata', () => {
  const known = given(connection, made({ metadata: { a: value('1'), b: value('2') } }));

  it('is replaced as a whole', () => {
    const metadata = { c: value('3') };
    const command = { type: 'SetMetadata', uid: 'u1', metadata, at: 2 } as const;
    expect(known.when(command).state()?.metadata).toEqual({ c: '3' });
  });

  it('is merged by top-level keys', () => {
    const metadata = { b: value('4'), c: value('3') };
    const command = { type: 'MergeMetadata', uid: 'u1', metadata, at: 2 } as const;
    expect(known.when(command).state()?.metadata).toEqual({ a: '1', b: '4', c: '3' });
  });

  it('of another connection under the same id is refused', () => {
    known
      .when({ type: 'SetMetadata', uid: 'u0', metadata: {}, at: 2 })
      .refused('unknown_connection');
  });
});

describe('renewed credentials', () => {
  const renewed = {
    type: 'StoreCredentials',
    uid: 'u1',
    credentials: sealed('c2'),
    fingerprint: 'f2',
    expiresAt: 9,
    at: 2,
  } as const;

  it('are stored as the next version', () => {
    const state = given(connection, made())
      .when({ ...renewed, ifVersion: 1 })
      .state();
    expect(state).toMatchObject({ credentials: 'c2', credentialsVersion: 2, expiresAt: 9 });
  });

  it('are refused when others were stored meanwhile', () => {
    given(connection, made())
      .when({ ...renewed, ifVersion: 0 })
      .refused('conflict');
  });
});

describe('a refresh', () => {
  const begin = {
    type: 'BeginRefresh',
    uid: 'u1',
    id: 'i1',
    ifVersion: 1,
    spendsToken: true,
    logId: 'l1',
    at: 10,
  } as const;
  const failed = {
    type: 'RefreshFailed',
    uid: 'u1',
    id: 'i1',
    isDefinitive: true,
    logId: 'l1',
    errorCode: 'invalid_grant',
    providerStatus: 400,
    at: 20,
  } as const;
  const begun = given(connection, made(), {
    type: 'RefreshBegun',
    intent: { id: 'i1', at: 10, spendsToken: true },
  });

  it('is said before the provider is asked', () => {
    given(connection, made())
      .when(begin)
      .then({ type: 'RefreshBegun', intent: { id: 'i1', at: 10, spendsToken: true } });
  });

  it('of credentials that were renewed meanwhile is refused', () => {
    given(connection, made())
      .when({ ...begin, ifVersion: 0 })
      .refused('conflict');
  });

  it('waits while the request of another may be under way', () => {
    begun.when({ ...begin, id: 'i2', at: 10 + limits.refreshLeaseMs - 1 }).refused('conflict');
  });

  it('after one without an outcome gives the token up: it may have been presented', () => {
    const state = begun.when({ ...begin, id: 'i2', at: 10 + limits.refreshLeaseMs }).state();
    expect(state?.errors).toEqual([{ type: 'auth', log_id: 'l1' }]);
    expect(state?.refresh).toMatchObject({ intent: null, failureDays: 1 });
  });

  it.each([
    ['spends nothing', { spendsToken: false }, null],
    ['shows a token that is known not to rotate', { spendsToken: true }, false],
  ])(
    'after one without an outcome begins again where it %s',
    (_, { spendsToken }, rotatesToken) => {
      const known = { intent: { id: 'i1', at: 10, spendsToken }, rotatesToken };
      const refresh = { ...neverRefreshed, ...known };
      const again = { ...begin, id: 'i2', spendsToken, at: 10 + limits.refreshLeaseMs };
      given(connection, withRefresh(refresh))
        .when(again)
        .then({ type: 'RefreshBegun', intent: { id: 'i2', at: again.at, spendsToken } });
    },
  );

  it('that the provider refused is an error of the connection', () => {
    expect(begun.when(failed).state()).toMatchObject({
      errors: [{ type: 'auth', log_id: 'l1' }],
      refresh: { intent: null, failedAt: 20, failureDays: 1 },
    });
  });

  it('that did not reach the provider only waits', () => {
    expect(begun.when({ ...failed, isDefinitive: false }).state()).toMatchObject({
      errors: [],
      refresh: { intent: null, failedAt: 20, failureDays: 0 },
    });
  });

  it('counts one failure a day, and none that has no intent', () => {
    const intent = { id: 'i1', at: 10, spendsToken: true };
    const daysAfter = (refresh: Partial<RefreshState>, at: number) =>
      given(connection, withRefresh({ ...neverRefreshed, intent, ...refresh }))
        .when({ ...failed, at })
        .state()?.refresh.failureDays;
    expect(daysAfter({ failedAt: 20, failureDays: 1 }, 30)).toBe(1);
    expect(daysAfter({ failedAt: 20, failureDays: 1 }, dayMs)).toBe(2);
    given(connection, made()).when(failed).then();
  });

  it('that succeeds resets the count and remembers whether the token rotates', () => {
    const state = begun
      .when({
        type: 'StoreCredentials',
        uid: 'u1',
        ifVersion: 1,
        credentials: sealed('c2'),
        fingerprint: 'f2',
        expiresAt: 99,
        rotatesToken: true,
        at: 20,
      })
      .state();
    expect(state?.refresh).toEqual({ ...neverRefreshed, rotatesToken: true });
    expect(state).toMatchObject({ credentialsVersion: 2, credentialsAt: 20, errors: [] });
  });
});

describe('an error of a connection', () => {
  it('is marked once for a log entry and cleared by its type', () => {
    const mark = { type: 'MarkError', error: authError, at: 2 } as const;
    const marked = given(connection, made()).when(mark).state();
    expect(marked?.errors).toEqual([authError]);
    expect(connection.decide(mark, marked)).toEqual([]);
    expect(connection.decide({ type: 'ClearError', errorType: 'auth', at: 3 }, marked)).toEqual([
      { type: 'ErrorCleared', errorType: 'auth', at: 3 },
    ]);
    expect(connection.decide({ type: 'ClearError', errorType: 'sync', at: 3 }, marked)).toEqual([]);
  });
});

describe('a deletion', () => {
  it('marks first, hides the connection, and removes only the marked one', () => {
    const deleting = given(connection, made(), { type: 'ConnectionDeletionBegun', at: 2 });
    deleting.when({ type: 'Patch', changes: {}, at: 3 }).refused('unknown_connection');
    deleting.when({ type: 'Delete', uid: 'u0', at: 3 }).then();
    deleting
      .when({ type: 'Delete', uid: 'u1', at: 3 })
      .then({ type: 'ConnectionDeleted', receipt: null });
    given(connection).when({ type: 'MarkDeleting', at: 3 }).refused('unknown_connection');
  });
});

describe('tags', () => {
  const refusal: unknown = expect.objectContaining({ code: 'invalid_body' });

  it.each([
    ['the same key in two cases', { Team: 'a', team: 'b' }],
    ['a key that begins with a digit', { '1a': 'b' }],
    ['an empty value', { a: '' }],
    ['an end_user_email that is no address', { end_user_email: 'x' }],
    [
      'eleven keys',
      Object.fromEntries('a b c d e f g h i j k'.split(' ').map((key) => [key, 'v'])),
    ],
  ])('refuse %s', (_, tags) => {
    expect(() => normalizeTags(tags)).toThrow(refusal);
  });

  it('describe the end user, whose own tags lie over them', () => {
    const organization = { id: 'o1', displayName: null };
    const endUser = { id: 'u', email: 'a@b.co', displayName: null, tags: { x: 'y' }, organization };
    expect(endUserTags(endUser)).toEqual({
      end_user_id: 'u',
      end_user_email: 'a@b.co',
      organization_id: 'o1',
      x: 'y',
    });
  });
});
