import { describe, expect, it } from 'vitest';
import { record, type RecordEvent, type RecordState } from '#modules/records/model/decider.ts';
import { given } from '#test/support/judges/given.ts';

const at = 1_000_000;
const later = 2_000_000;
const save = { type: 'Save', hash: 'h1', seq: 1, at } as const;
const state: RecordState = {
  hash: 'h1',
  position: 1,
  version: 1,
  firstSeenAt: at,
  modifiedAt: at,
  deletedAt: null,
  prunedAt: null,
};
const first = { previousPosition: null, previousHash: null };
const added: RecordEvent = { action: 'added', after: state, ...first };
const moved = { previousPosition: 1, previousHash: 'h1' };
const stayed = { previousPosition: null, previousHash: 'h1' };
const deleted: RecordEvent = {
  action: 'deleted',
  after: { ...state, position: 2, version: 2, modifiedAt: later, deletedAt: later },
  ...moved,
};
const pruned: RecordEvent = {
  action: 'pruned',
  after: { ...state, version: 2, prunedAt: later },
  ...stayed,
};
const remove = { type: 'Delete', hash: 'h0', seq: 2, at: later, deletedAt: null } as const;
const again = { seq: 3, at: 3_000_000 };

describe('an unknown record', () => {
  it('§7.3 an unknown record that is saved is added', () => {
    given(record).when(save).then(added);
  });

  it('that is updated stays unknown', () => {
    given(record)
      .when({ ...save, type: 'Update' })
      .then();
  });

  it('§7.5 an unknown record that is deleted is kept as deleted', () => {
    const after = { ...state, hash: 'h0', position: 2, firstSeenAt: later, modifiedAt: later };
    const missed = { action: 'deleted', after: { ...after, deletedAt: later }, ...first };
    given(record).when(remove).then(missed);
  });

  it('is neither pruned nor purged', () => {
    given(record).when({ type: 'Prune', at }).then();
    given(record).when({ type: 'Purge' }).then();
  });
});

describe('a live record', () => {
  it('§7.3 saved again as it was is unchanged: nothing is said', () => {
    given(record, added)
      .when({ ...save, seq: 2, at: later })
      .then();
  });

  it('saved with another payload is updated, and moves', () => {
    const after = { ...state, hash: 'h2', position: 2, version: 2, modifiedAt: later };
    const change = { type: 'Save', hash: 'h2', seq: 2, at: later } as const;
    given(record, added)
      .when(change)
      .then({ action: 'updated', after, ...moved });
  });

  it('updated with fields that change it is updated, and with others is not', () => {
    const after = { ...state, hash: 'h2', position: 2, version: 2, modifiedAt: later };
    const change = { type: 'Update', hash: 'h2', seq: 2, at: later } as const;
    given(record, added)
      .when(change)
      .then({ action: 'updated', after, ...moved });
    given(record, added)
      .when({ ...change, hash: 'h1' })
      .then();
  });

  it('is deleted now, or at the time the caller gives', () => {
    given(record, added).when(remove).then(deleted);
    const given5 = { ...deleted, after: { ...deleted.after, deletedAt: 5 } };
    given(record, added)
      .when({ ...remove, deletedAt: 5 })
      .then(given5);
  });

  it('is pruned without moving', () => {
    given(record, added).when({ type: 'Prune', at: later }).then(pruned);
  });

  it('is purged for good: saved again it is new', () => {
    const purged = { action: 'purged', after: { ...state, version: 2 }, ...stayed } as const;
    given(record, added).when({ type: 'Purge' }).then(purged);
    given(record, added, purged).when(save).then(added);
  });
});

describe('a deleted record', () => {
  const seen = { firstSeenAt: again.at, modifiedAt: again.at };

  it('§7.3 a deleted record saved again is added again', () => {
    const after = { ...state, ...seen, position: 3, version: 3 };
    const revived = { action: 'added', after, previousPosition: 2, previousHash: 'h1' };
    given(record, added, deleted)
      .when({ ...save, ...again })
      .then(revived);
  });

  it('updated lives again and was first seen when it was', () => {
    const after = { ...state, position: 3, version: 3, modifiedAt: again.at };
    const revived = { action: 'updated', after, previousPosition: 2, previousHash: 'h1' };
    given(record, added, deleted)
      .when({ ...save, ...again, type: 'Update' })
      .then(revived);
  });

  it('§7.5 a deleted record is not deleted twice', () => {
    given(record, added, deleted)
      .when({ ...remove, ...again })
      .then();
  });
});

describe('a pruned record', () => {
  it('is not pruned twice', () => {
    given(record, added, pruned).when({ type: 'Prune', at: 9 }).then();
  });

  it('§7.3 a pruned record saved again has its payload back and stays where it was', () => {
    const restored = { action: 'restored', after: { ...state, version: 3 }, ...stayed };
    given(record, added, pruned)
      .when({ ...save, ...again })
      .then(restored);
  });

  it('saved with another payload is updated and no longer pruned', () => {
    const after = { ...state, hash: 'h2', position: 3, version: 3, modifiedAt: again.at };
    const updated = { action: 'updated', after, ...moved };
    given(record, added, pruned)
      .when({ ...save, ...again, hash: 'h2' })
      .then(updated);
  });

  it('§7.4 a pruned record that is updated is no longer pruned', () => {
    const after = { ...state, position: 3, version: 3, modifiedAt: again.at };
    const updated = { action: 'updated', after, ...moved };
    given(record, added, pruned)
      .when({ ...save, ...again, type: 'Update' })
      .then(updated);
  });

  it('stays pruned when it is deleted', () => {
    const gone = {
      ...pruned.after,
      position: 3,
      version: 3,
      modifiedAt: again.at,
      deletedAt: again.at,
    };
    const event = { action: 'deleted', after: gone, ...moved };
    given(record, added, pruned)
      .when({ ...remove, ...again })
      .then(event);
  });
});

describe('a command', () => {
  it('never moves a time back or leaves a state half way', () => {
    const states = [[added], [added, deleted], [added, pruned]];
    for (const facts of states) {
      for (const type of ['Save', 'Update', 'Delete'] as const) {
        const command = { type, hash: 'h9', ...again, deletedAt: null };
        const after = given(record, ...facts)
          .when(command)
          .state();
        expect(after?.modifiedAt ?? 0).toBeGreaterThanOrEqual(at);
        expect(after?.firstSeenAt ?? 0).toBeLessThanOrEqual(after?.modifiedAt ?? 0);
      }
    }
  });
});
