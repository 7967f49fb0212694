import { describe, expect, it } from 'vitest';
import { createHighWatermarks, type HighWatermark } from '#modules/records/read/high-watermarks.ts';

const at = (position: number): HighWatermark => ({ generation: 1n, position, modifiedAt: 0 });

describe('what the table answered about the end of a stream', () => {
  /** A query of the table, answered by the caller. */
  function asked(watermarks: ReturnType<typeof createHighWatermarks>) {
    const answer = Promise.withResolvers<HighWatermark>();
    const learned = watermarks.learn('s', () => answer.promise);
    return async (watermark: HighWatermark): Promise<HighWatermark> => {
      answer.resolve(watermark);
      return learned;
    };
  }

  it('is kept', async () => {
    const watermarks = createHighWatermarks();
    expect(await asked(watermarks)(at(5))).toEqual(at(5));
    expect(watermarks.find('s')).toEqual(at(5));
  });

  it('is not kept if rows came before the answer', async () => {
    const watermarks = createHighWatermarks();
    const answer = asked(watermarks);
    watermarks.begin(['s']);
    await answer(at(5));
    expect(watermarks.find('s')).toBeUndefined();
    watermarks.advance('s', at(6));
    expect(watermarks.find('s')).toEqual(at(6));
  });

  it('is not kept if it was asked while rows came, and is older than they are', async () => {
    const watermarks = createHighWatermarks();
    watermarks.begin(['s']);
    const answer = asked(watermarks);
    watermarks.advance('s', at(6));
    await answer(at(5));
    expect(watermarks.find('s')).toEqual(at(6));
  });

  it('is not kept if the stream was dropped meanwhile', async () => {
    const watermarks = createHighWatermarks();
    const answer = asked(watermarks);
    watermarks.drop(['s']);
    await answer(at(5));
    expect(watermarks.find('s')).toBeUndefined();
  });

  it('is not kept if all were dropped meanwhile', async () => {
    const watermarks = createHighWatermarks();
    const answer = asked(watermarks);
    watermarks.drop('all');
    await answer(at(5));
    expect(watermarks.find('s')).toBeUndefined();
  });
});
