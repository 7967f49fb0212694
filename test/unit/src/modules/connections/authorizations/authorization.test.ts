import { describe, it } from 'vitest';
import type { Sealed } from '#kernel/ids.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import { authorization } from '#modules/connections/authorizations/authorization.ts';
import { given } from '#test/support/judges/given.ts';

const asked = {
  id: 'a1',
  environmentUid: 'e1',
  hash: 'h',
  integrationKey: 'crm',
  connectionId: 'c1',
  reconnectsUid: null,
  socketId: null,
  endUser: null,
  tags: {},
  webhookUrlOverride: null,
  actor: 'user:session-s1',
  details: 'v1' as Sealed<JsonObject>,
};
const expiresAt = 1000 + 30 * 60_000;
const begun = {
  type: 'AuthorizationBegun',
  authorization: { ...asked, createdAt: 1000, expiresAt },
} as const;

describe('an authorization', () => {
  it('waits for its callback for 30 minutes', () => {
    given(authorization)
      .when({ type: 'Begin', ...asked, at: 1000 })
      .then(begun);
    const waiting = given(authorization, begun);
    waiting.when({ type: 'Tick', at: expiresAt - 1 }).then();
    waiting.when({ type: 'Tick', at: expiresAt }).then({ type: 'AuthorizationAbandoned' });
  });

  it('is taken by one callback, in time', () => {
    const waiting = given(authorization, begun);
    waiting.when({ type: 'Take', at: expiresAt - 1 }).then({ type: 'AuthorizationTaken' });
    waiting.when({ type: 'Take', at: expiresAt }).refused('not_found');
    const taken = given(authorization, begun, { type: 'AuthorizationTaken' });
    taken.when({ type: 'Take', at: 2000 }).refused('not_found');
    taken.when({ type: 'Tick', at: expiresAt }).then();
  });
});
