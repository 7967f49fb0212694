import { describe, it } from 'vitest';
import { connectSession } from '#modules/connections/connect-sessions/connect-session.ts';
import { given } from '#test/support/judges/given.ts';

const asked = {
  id: 's1',
  environmentUid: 'e1',
  hash: 'h',
  endUser: null,
  tags: {},
  allowedIntegrations: [],
  defaults: null,
  docs: {},
  webhookUrlOverride: null,
  reconnects: null,
};
const minute = 60_000;
const session = { ...asked, createdAt: 1000, expiresAt: 1000 + 30 * minute };
const created = { type: 'SessionCreated', session } as const;

describe('a connect session', () => {
  it('lives for 30 minutes from the decision', () => {
    given(connectSession)
      .when({ type: 'Create', ...asked, at: 1000 })
      .then(created);
  });

  it('ends when its time is over, not before, and when it is ended', () => {
    const known = given(connectSession, created);
    known.when({ type: 'Tick', at: session.expiresAt - 1 }).then();
    known.when({ type: 'Tick', at: session.expiresAt }).then({ type: 'SessionEnded' });
    known.when({ type: 'End', at: 2000 }).then({ type: 'SessionEnded' });
  });

  it('that is over may be ended again, and cannot be made twice', () => {
    given(connectSession, created, { type: 'SessionEnded' }).when({ type: 'End', at: 2000 }).then();
    given(connectSession, created)
      .when({ type: 'Create', ...asked, at: 2000 })
      .refused('conflict');
  });
});
