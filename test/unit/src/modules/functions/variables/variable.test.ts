import { describe, expect, it } from 'vitest';
import type { Sealed } from '#kernel/ids.ts';
import { variable } from '#modules/functions/variables/variable.ts';
import { given } from '#test/support/judges/given.ts';

const set = {
  type: 'Set',
  environmentUid: 'e1',
  name: 'URL',
  value: 's' as Sealed<string>,
  at: 1,
} as const;

describe('a variable', () => {
  it('is set as long as there are fewer than a hundred others', () => {
    const state = given(variable)
      .when({ ...set, othersInScope: 99 })
      .state();
    expect(state).toEqual({ environmentUid: 'e1', name: 'URL', value: 's', updatedAt: 1 });
    given(variable)
      .when({ ...set, othersInScope: 100 })
      .refused('resource_capped');
  });

  it('cannot be deleted when it is not there', () => {
    given(variable).when({ type: 'Delete', at: 1 }).refused('not_found');
  });
});
