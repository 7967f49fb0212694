import { describe, expect, it } from 'vitest';
import { GatewayError } from '#kernel/errors.ts';
import { InsertWatch } from '#streams/projector/shared-projector.ts';

const fails = (code: 'projection_unavailable' | 'projection_refused') => () =>
  Promise.reject(new GatewayError(code));
const succeeds = () => Promise.resolve();

describe('the state of the store by its inserts', () => {
  it('is held up from the first that fails to the next that succeeds, and reported once', async () => {
    let told = 0;
    const watch = new InsertWatch(() => told++);
    await watch.during(succeeds);
    expect(watch.isHeldUp).toBe(false);
    await expect(watch.during(fails('projection_unavailable'))).rejects.toThrow();
    await expect(watch.during(fails('projection_unavailable'))).rejects.toThrow();
    expect([watch.isHeldUp, told]).toEqual([true, 1]);
    await watch.during(succeeds);
    expect(watch.isHeldUp).toBe(false);
    await expect(watch.during(fails('projection_unavailable'))).rejects.toThrow();
    expect(told).toBe(2);
    watch.reset();
    expect(watch.isHeldUp).toBe(false);
  });

  it('is held up while one takes long', async () => {
    const slow = Promise.withResolvers<undefined>();
    const heldUp = Promise.withResolvers<undefined>();
    const watch = new InsertWatch(() => heldUp.resolve(undefined), { slowMs: 1 });
    const insert = watch.during(() => slow.promise);
    await heldUp.promise;
    expect(watch.isHeldUp).toBe(true);
    slow.resolve(undefined);
    await insert;
    expect(watch.isHeldUp).toBe(false);
  });

  it('is not held up by rows that the table refuses', async () => {
    const watch = new InsertWatch(() => undefined);
    await expect(watch.during(fails('projection_refused'))).rejects.toThrow();
    expect(watch.isHeldUp).toBe(false);
  });
});
