import { describe, expect, it } from 'vitest';
import {
  deliveriesOf,
  subscription,
  type Subscription,
  type SubscriptionCommand,
} from '#modules/extensions/changes/subscriptions/subscription.ts';

const place = { partition: 1, offset: 14 };
const created: SubscriptionCommand = {
  type: 'Create',
  uid: 'u',
  environmentUid: 'e',
  name: 'crm:mirror',
  filter: { provider_config_key: 'crm', models: ['Contact'] },
  target: { type: 'function', integrationKey: 'crm', name: 'mirror' },
  offsets: [0, 10],
  siblings: 0,
  at: 1,
};
const begin = { type: 'BeginDelivery', partition: 1, next: 20, epoch: 3, moves: 0, at: 2 } as const;
const attempt = (number: number) =>
  ({ partition: 1, next: 20, attempt: number, moves: 0, at: 3 }) as const;

function after(...commands: readonly SubscriptionCommand[]): Subscription | null {
  let state: Subscription | null = null;
  for (const command of commands)
    for (const event of subscription.decide(command, state))
      state = subscription.evolve(state, event);
  return state;
}

describe('the delivery of a partition', () => {
  it('is decided once, and may become shorter but not longer', () => {
    expect(deliveriesOf(after(created, begin, begin)!)).toEqual([
      { partition: 1, next: 20, epoch: 3, attempt: 1, failures: 0 },
    ]);
    expect(deliveriesOf(after(created, begin, { ...begin, next: 15 })!)).toMatchObject([
      { next: 15, attempt: 1 },
    ]);
    expect(() => after(created, begin, { ...begin, next: 21 })).toThrow(/moved/);
    expect(() => after(created, { ...begin, next: 10 })).toThrow(/moved/);
  });

  it('counts attempts, and refusals of the target beside them', () => {
    const state = after(
      created,
      begin,
      { type: 'FailDelivery', isByTarget: false, ...attempt(1) },
      { type: 'FailDelivery', isByTarget: true, ...attempt(2) },
    );
    expect(deliveriesOf(state!)).toMatchObject([{ attempt: 3, failures: 1 }]);
  });

  it('moves the position at its end, once', () => {
    const end = { type: 'EndDelivery', ...attempt(1) } as const;
    const state = after(created, begin, end);
    expect(state).toMatchObject({ offsets: [0, 20], epochs: [0, 3], deliveries: [] });
    expect(() => after(created, begin, end, end)).toThrow(/moved/);
  });

  it('parks a change with its end', () => {
    const park = { place, reason: 'no' };
    const state = after(created, begin, { type: 'EndDelivery', park, ...attempt(1) });
    expect(state).toMatchObject({ offsets: [0, 20], parked: [{ ...place, reason: 'no' }] });
  });

  it('is given up when the subscription is moved', () => {
    const state = after(created, begin, { type: 'Move', offsets: [0, 0], at: 4 });
    expect(state).toMatchObject({ deliveries: [], moves: 1, offsets: [0, 0] });
  });
});

it('a replay that fails leaves the change parked, with the new reason', () => {
  const state = after(
    created,
    { type: 'Park', place, reason: 'no', at: 2 },
    { type: 'Replay', place, at: 3 },
    { type: 'FailReplay', place, reason: 'still no', at: 4 },
  );
  expect(state?.parked).toEqual([{ ...place, reason: 'still no', parkedAt: 2, replays: 1 }]);
});

it('a subscription of a function is committed by the service alone', () => {
  const commit = { type: 'Commit', offsets: [0, 11], epochs: [], moves: 0, at: 2 } as const;
  expect(() => after(created, commit)).toThrow(/commits their position itself/);
});
