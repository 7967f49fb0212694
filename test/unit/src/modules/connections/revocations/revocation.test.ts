import { expect, it } from 'vitest';
import type { Sealed } from '#kernel/ids.ts';
import { limits } from '#kernel/limits.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import {
  revocation,
  revocationMaxMs,
  type Revocation,
  type RevocationCommand,
  type RevocationOrder,
} from '#modules/connections/revocations/revocation.ts';

const order: RevocationOrder = {
  uid: 'r1',
  environmentUid: 'e',
  integrationKey: 'mail',
  connectionId: 'ann',
  connectionUid: 'c1',
  provider: 'mail',
  request: 'sealed' as Sealed<JsonObject>,
};

const after = (state: Revocation | null, command: RevocationCommand): Revocation | null =>
  revocation
    .decide(command, state)
    .reduce<Revocation | null>((before, event) => revocation.evolve(before, event), state);

const requested = after(null, { type: 'Request', order, at: 0 });

it('begins at once, for one node', () => {
  const begun = after(requested, { type: 'Begin', token: 'a', at: 0 });
  expect(begun).toMatchObject({ status: 'running', token: 'a', attempts: 1 });
  expect(after(begun, { type: 'Begin', token: 'b', at: 1 })).toBe(begun);
  expect(after(begun, { type: 'End', token: 'b', at: 1 })).toBe(begun);
});

it('is ordered once', () => {
  const second = { ...order, uid: 'r2' };
  expect(after(requested, { type: 'Request', order: second, at: 1 })).toBe(requested);
});

it('keeps no request after its end, and is cleaned up when its node does not do it', () => {
  const begun = after(requested, { type: 'Begin', token: 'a', at: 0 });
  const ended = after(begun, { type: 'End', token: 'a', at: 5 });
  expect(ended).toMatchObject({ status: 'ended', request: null });
  const left = after(ended, { type: 'Tick', at: 5 + limits.revocationLeaseMs });
  expect(left?.status).toBe('left');
  expect(after(left, { type: 'Remove', uid: 'another', at: 6 })).toBe(left);
  expect(after(left, { type: 'Remove', uid: 'r1', at: 6 })).toBeNull();
});

it.each(['Postpone', 'lost'])('ends after a bounded number of attempts: %s', (how) => {
  let state = requested;
  let at = 0;
  let attempts = 0;
  while (state?.status === 'due') {
    state = after(state, { type: 'Begin', token: 'a', at });
    attempts += 1;
    if (how === 'Postpone') state = after(state, { type: 'Postpone', token: 'a', at });
    if (state?.request == null) break;
    at = state.dueAt ?? at;
    state = after(state, { type: 'Tick', at });
  }
  expect(attempts).toBe(limits.revocationAttemptsMax);
  expect(state?.request).toBeNull();
  expect(at).toBeLessThanOrEqual(revocationMaxMs);
});
