import { describe, it } from 'vitest';
import { rewrap } from '#modules/access/root-keys/rewrap-order.ts';
import { given } from '#test/support/judges/given.ts';

const order = (id: string, rootKeyId: string) =>
  ({ type: 'Order', id, rootKeyId, total: 7, by: 'key:1', at: 1000 }) as const;
const ordered = (id: string, rootKeyId: string) =>
  ({
    type: 'RewrapOrdered',
    rewrap: { id, rootKeyId, total: 7, by: 'key:1', orderedAt: 1000, endedAt: null },
  }) as const;
const end = (id: string) => ({ type: 'End', id, at: 2000 }) as const;
const ended = { type: 'RewrapEnded', at: 2000 } as const;

describe('an order to rewrap', () => {
  it('is taken, and ends once', () => {
    given(rewrap).when(order('a', 'k1')).then(ordered('a', 'k1'));
    given(rewrap, ordered('a', 'k1')).when(end('a')).then(ended);
    given(rewrap, ordered('a', 'k1'), ended).when(end('a')).then();
  });

  it('stays while it goes on, and is taken again when it has ended', () => {
    given(rewrap, ordered('a', 'k1')).when(order('b', 'k1')).then();
    given(rewrap, ordered('a', 'k1'), ended).when(order('b', 'k1')).then(ordered('b', 'k1'));
  });

  it('gives way to one for another root key, and cannot end that one', () => {
    given(rewrap, ordered('a', 'k1')).when(order('b', 'k2')).then(ordered('b', 'k2'));
    given(rewrap, ordered('a', 'k1'), ordered('b', 'k2')).when(end('a')).then();
  });
});
