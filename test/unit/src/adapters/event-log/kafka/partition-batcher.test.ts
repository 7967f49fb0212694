import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { PartitionBatcher, PendingAppend } from '#adapters/event-log/kafka/partition-batcher.ts';
import { GatewayError } from '#kernel/errors.ts';
import { message } from '#test/support/worlds/log.ts';

const identity = (producerId: string) => ({ producerId, producerEpoch: 0 });
const [first, second] = [identity('1'), identity('2')];
const unavailable = new GatewayError('log_unavailable');
const tooLarge = new GatewayError('request_too_large');

function laneOf(...calls: (readonly string[])[]) {
  const renewed: unknown[] = [];
  const lane = new PartitionBatcher('topic', 0, { renew: () => renewed.push('renewed') });
  const pending = calls.map((keys) => new PendingAppend(keys.map((key) => message(key))));
  for (const one of pending) {
    one.written.promise.catch(() => undefined);
    lane.add(one);
  }
  return { lane, pending, renewed };
}

/** What a call has heard so far. */
const outcome = (pending: PendingAppend): Promise<unknown> =>
  Promise.race([
    pending.written.promise.catch((error: unknown) => (error as GatewayError).code),
    setImmediate('waiting'),
  ]);

describe('what is appended to a partition', () => {
  it('goes in one batch, and each call hears its own offset', async () => {
    const { lane, pending } = laneOf(['a', 'b'], ['c']);
    expect(lane.next(first, 0)).toMatchObject({ sequence: 0, records: { count: 3 } });
    lane.acknowledged(10);
    expect(await Promise.all(pending.map(outcome))).toEqual([10, 12]);
    expect(lane.hasWork).toBe(false);
  });

  it('counts on after each batch', () => {
    const { lane } = laneOf(['a', 'b']);
    lane.next(first, 0);
    lane.acknowledged(0);
    lane.add(new PendingAppend([message('c')]));
    expect(lane.next(first, 0)).toMatchObject({ sequence: 2 });
  });

  it('is sent again as it was while there is no answer', () => {
    const { lane } = laneOf(['a']);
    const sent = lane.next(first, 0);
    lane.mayBeWritten();
    lane.add(new PendingAppend([message('b')]));
    expect(lane.next(first, 5)).toBe(sent);
  });

  it('is split by messages only when it is larger than a batch', async () => {
    const large = 'x'.repeat(600_000);
    const lane = new PartitionBatcher('topic', 0, { renew: () => undefined });
    const call = new PendingAppend([message('a', large), message('b', large), message('c', 'c')]);
    lane.add(call);
    expect(lane.next(first, 0)?.records.count).toBe(1);
    lane.acknowledged(4);
    expect(await outcome(call)).toBe('waiting');
    expect(lane.next(first, 0)?.records.count).toBe(2);
    lane.acknowledged(9);
    expect(await outcome(call)).toBe(4);
  });
});

describe('a batch that is refused', () => {
  it('is tried call by call, so that only the guilty one fails', async () => {
    const { lane, pending } = laneOf(['a'], ['bad'], ['c']);
    lane.next(first, 0);
    lane.refused(tooLarge);
    expect(lane.next(first, 0)?.records.count).toBe(1);
    lane.acknowledged(0);
    expect(lane.next(first, 0)?.records.count).toBe(1);
    lane.refused(tooLarge);
    expect(lane.next(first, 0)).toMatchObject({ sequence: 1, records: { count: 1 } });
    lane.acknowledged(1);
    expect(await Promise.all(pending.map(outcome))).toEqual([0, 'request_too_large', 1]);
  });
});

describe('a batch whose outcome is not known', () => {
  it('that was given up leaves its sequence to another producer', () => {
    const { lane, pending, renewed } = laneOf(['a']);
    lane.next(first, 0);
    lane.mayBeWritten();
    pending[0]!.fail(unavailable);
    lane.add(new PendingAppend([message('b')]));
    expect(lane.next(first, 0)).toBeNull();
    expect(renewed).toHaveLength(1);
    expect(lane.next(second, 0)).toMatchObject({ identity: second, sequence: 0 });
  });

  it('that was never sent leaves nothing behind', () => {
    const { lane, pending, renewed } = laneOf(['a']);
    lane.next(first, 0);
    pending[0]!.fail(unavailable);
    lane.add(new PendingAppend([message('b')]));
    expect(lane.next(first, 0)).toMatchObject({ identity: first, sequence: 0 });
    expect(renewed).toHaveLength(0);
  });

  it('fails its calls when it cannot be found out', async () => {
    const { lane, pending, renewed } = laneOf(['a'], ['b']);
    lane.next(first, 0);
    lane.lost(unavailable);
    expect(await Promise.all(pending.map(outcome))).toEqual(['log_unavailable', 'log_unavailable']);
    expect(renewed).toHaveLength(1);
  });

  it('is not taken for one from before by an answer with its offset', () => {
    const { lane } = laneOf(['a', 'b']);
    lane.next(first, 0);
    lane.acknowledged(5);
    expect(lane.isAfterLast(5)).toBe(false);
    expect(lane.isAfterLast(7)).toBe(true);
  });
});

describe('a producer that the broker has forgotten', () => {
  it('is replaced, and the batch sent from its beginning', async () => {
    const { lane, pending, renewed } = laneOf(['a'], ['b']);
    lane.next(first, 0);
    lane.renewed();
    expect(renewed).toHaveLength(1);
    expect(lane.next(second, 0)).toMatchObject({ identity: second, records: { count: 2 } });
    lane.acknowledged(3);
    expect(await Promise.all(pending.map(outcome))).toEqual([3, 4]);
  });
});
