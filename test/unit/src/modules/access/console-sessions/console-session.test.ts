import { describe, expect, it } from 'vitest';
import { limits } from '#kernel/limits.ts';
import { consoleSession, endOf } from '#modules/access/console-sessions/console-session.ts';
import { given } from '#test/support/judges/given.ts';

const hour = 3_600_000;
const account = (id: string) => ({ environmentUid: null, id });
const key = (id: string) => ({ environmentUid: 'e1', id });
const session = { id: 's1', hash: 'h', keys: [key('k1')], createdAt: 1000, usedAt: 1000 };
const created = { type: 'SessionCreated', session } as const;
const used = (usedAt: number) => ({ type: 'SessionUsed', usedAt }) as const;

describe('a session of the console', () => {
  it('holds the keys that signed in, of the account only the last', () => {
    given(consoleSession)
      .when({ type: 'Create', id: 's1', hash: 'h', keys: [key('k1')], replaced: null, at: 1000 })
      .then({ ...created, session: { ...session, keys: [{ ...key('k1'), addedAt: 1000 }] } });
    given(consoleSession, created)
      .when({ type: 'Create', id: 's1', hash: 'h', keys: [], replaced: null, at: 1000 })
      .refused('conflict');
  });

  it('takes over the keys and the sign-in of the one that it replaces, while that lives', () => {
    const replaced = { ...session, keys: [key('k1'), account('a1')], usedAt: 1500 };
    const keys = [key('k1'), key('k2'), account('a2')];
    const create = { type: 'Create', id: 's2', hash: 'h2', keys, replaced } as const;
    const next = { id: 's2', hash: 'h2' };
    const addedAt = (at: number) => keys.map((one) => ({ ...one, addedAt: at }));
    given(consoleSession)
      .when({ ...create, at: 2000 })
      .then({
        type: 'SessionCreated',
        session: { ...next, keys: addedAt(2000), createdAt: 1000, usedAt: 2000 },
      });
    const at = 1500 + 2 * hour;
    given(consoleSession)
      .when({ ...create, keys: [key('k2')], at })
      .then({
        type: 'SessionCreated',
        session: { ...next, keys: [{ ...key('k2'), addedAt: at }], createdAt: at, usedAt: at },
      });
  });

  it('holds no more keys than its limit', () => {
    const keys = Array.from({ length: limits.consoleSessionKeysMax + 1 }, (_, at) => key(`n${at}`));
    given(consoleSession)
      .when({ type: 'Create', id: 's1', hash: 'h', keys, replaced: null, at: 2000 })
      .refused('resource_capped');
    given(consoleSession)
      .when({
        type: 'Create',
        id: 's1',
        hash: 'h',
        keys: keys.slice(1),
        replaced: session,
        at: 2000,
      })
      .refused('resource_capped');
  });

  it('ends without its last key, and when it is signed out', () => {
    const known = given(consoleSession, created, {
      type: 'KeysChanged',
      keys: [key('k1'), key('k2')],
      at: 1500,
    });
    known
      .when({ type: 'RemoveKey', keyId: 'k1', at: 2000 })
      .then({ type: 'KeysChanged', keys: [key('k2')], at: 2000 });
    known.when({ type: 'RemoveKey', keyId: 'k9', at: 2000 }).then();
    given(consoleSession, created)
      .when({ type: 'RemoveKey', keyId: 'k1', at: 2000 })
      .then({ type: 'SessionEnded' });
    known.when({ type: 'End', at: 2000 }).then({ type: 'SessionEnded' });
  });

  it('ends two hours after its last use, and twelve after the sign-in in any case', () => {
    const known = given(consoleSession, created);
    known.when({ type: 'Tick', at: 1000 + 2 * hour - 1 }).then();
    known.when({ type: 'Tick', at: 1000 + 2 * hour }).then({ type: 'SessionEnded' });
    const inUse = given(consoleSession, created, used(hour));
    inUse.when({ type: 'Tick', at: 1000 + 2 * hour }).then();
    expect(endOf({ createdAt: 1000, usedAt: 11 * hour })).toBe(1000 + 12 * hour);
  });

  it('that has ended is not used', () => {
    const ended = given(consoleSession, created, { type: 'SessionEnded' });
    ended.when({ type: 'ObserveUse', usedAt: 2000, at: 2000 }).then();
    ended.when({ type: 'RemoveKey', keyId: 'k1', at: 2000 }).then();
    ended.when({ type: 'End', at: 2000 }).then();
    ended.when({ type: 'Tick', at: 20 * hour }).then();
  });

  it('notes only a later use', () => {
    const known = given(consoleSession, created, used(5000));
    known.when({ type: 'ObserveUse', usedAt: 5000, at: 6000 }).then();
    known.when({ type: 'ObserveUse', usedAt: 6000, at: 6000 }).then(used(6000));
  });

  it('of a person takes over neither keys nor time, and gives over none', () => {
    const browser = { name: 'Firefox on Linux', ipPrefix: '203.0.113.0/24' };
    const create = { type: 'Create', id: 's2', hash: 'h2', browser, at: 2000 } as const;
    const ofPerson = { id: 's2', hash: 'h2', keys: [], personId: 'p1', browser };
    const times = { createdAt: 2000, usedAt: 2000 };
    const replaced = { ...session, usedAt: 1500 };
    given(consoleSession)
      .when({ ...create, keys: [], personId: 'p1', replaced })
      .then({ type: 'SessionCreated', session: { ...ofPerson, ...times } });
    const before = { ...ofPerson, createdAt: 1000, usedAt: 1500 };
    given(consoleSession)
      .when({ ...create, keys: [key('k2')], replaced: before })
      .then({
        type: 'SessionCreated',
        session: {
          id: 's2',
          hash: 'h2',
          keys: [{ ...key('k2'), addedAt: 2000 }],
          browser,
          ...times,
        },
      });
  });
});
