import { describe, it } from 'vitest';
import { consoleCode } from '#modules/access/console-codes/console-code.ts';
import { given } from '#test/support/judges/given.ts';

const asked = { id: 'c1', hash: 'h', keys: [{ environmentUid: 'e1', id: 'k1' }] };
const code = { ...asked, createdAt: 1000, expiresAt: 1000 + 5 * 60_000 };
const created = { type: 'CodeCreated', code } as const;

describe('a code of the console', () => {
  it('is made for five minutes', () => {
    given(consoleCode)
      .when({ type: 'Create', ...asked, at: 1000 })
      .then(created);
    given(consoleCode, created)
      .when({ type: 'Create', ...asked, at: 1000 })
      .refused('conflict');
  });

  it('works once', () => {
    given(consoleCode, created).when({ type: 'Use', at: 2000 }).then({ type: 'CodeUsed' });
    given(consoleCode, created, { type: 'CodeUsed' })
      .when({ type: 'Use', at: 2000 })
      .refused('unknown_console_code');
  });

  it('does not work when its time is over', () => {
    const known = given(consoleCode, created);
    known.when({ type: 'Use', at: code.expiresAt }).refused('unknown_console_code');
    known.when({ type: 'Tick', at: code.expiresAt - 1 }).then();
    known.when({ type: 'Tick', at: code.expiresAt }).then({ type: 'CodeExpired' });
    given(consoleCode).when({ type: 'Tick', at: code.expiresAt }).then();
  });

  it('of a person lives as long as it is given, and is withdrawn', () => {
    const input = { id: 'c2', hash: 'h2', keys: [], personId: 'p1' };
    const ofPerson = { ...input, createdAt: 1000, expiresAt: 1000 + 60_000 };
    const made = { type: 'CodeCreated', code: ofPerson } as const;
    given(consoleCode)
      .when({ type: 'Create', ...input, lifetimeMs: 60_000, at: 1000 })
      .then(made);
    const known = given(consoleCode, made);
    known.when({ type: 'Withdraw', at: 2000 }).then({ type: 'CodeExpired' });
    given(consoleCode, made, { type: 'CodeExpired' }).when({ type: 'Withdraw', at: 3000 }).then();
    given(consoleCode, made, { type: 'CodeExpired' })
      .when({ type: 'Use', at: 3000 })
      .refused('unknown_console_code');
  });
});
