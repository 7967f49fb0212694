import { describe, expect, it } from 'vitest';
import { createHighWatermarks, type HighWatermark } from '#modules/records/high-watermarks.ts';

const at = (position: number): HighWatermark => ({ generation: 1n, position, modifiedAt: 0 });

describe('what the table answered about the end of a stream', () => {
  /** A query of the table, answered by the caller. */
  function asked(heads: ReturnType<typeof createHighWatermarks>) {
    const answer = Promise.withResolvers<HighWatermark>();
    const learned = heads.learn('s', () => answer.promise);
    return async (head: HighWatermark): Promise<HighWatermark> => {
      answer.resolve(head);
      return learned;
    };
  }

  it('is kept', async () => {
    const heads = createHighWatermarks();
    expect(await asked(heads)(at(5))).toEqual(at(5));
    expect(heads.find('s')).toEqual(at(5));
  });

  it('is not kept if rows came before the answer', async () => {
    const heads = createHighWatermarks();
    const answer = asked(heads);
    heads.begin(['s']);
    await answer(at(5));
    expect(heads.find('s')).toBeUndefined();
    heads.advance('s', at(6));
    expect(heads.find('s')).toEqual(at(6));
  });

  it('is not kept if it was asked while rows came, and is older than they are', async () => {
    const heads = createHighWatermarks();
    heads.begin(['s']);
    const answer = asked(heads);
    heads.advance('s', at(6));
    await answer(at(5));
    expect(heads.find('s')).toEqual(at(6));
  });

  it('is not kept if the stream was dropped meanwhile', async () => {
    const heads = createHighWatermarks();
    const answer = asked(heads);
    heads.drop(['s']);
    await answer(at(5));
    expect(heads.find('s')).toBeUndefined();
  });

  it('is not kept if all were dropped meanwhile', async () => {
    const heads = createHighWatermarks();
    const answer = asked(heads);
    heads.drop('all');
    await answer(at(5));
    expect(heads.find('s')).toBeUndefined();
  });
});
