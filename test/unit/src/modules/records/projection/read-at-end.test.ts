import { describe, expect, it } from 'vitest';
import { createReadAtEnd } from '#modules/records/projection/read-at-end.ts';
import { createPublication } from '#streams/projector/publication.ts';

const isSettled = async (promise: Promise<unknown>): Promise<boolean> => {
  const later = new Promise<boolean>((resolve) => setTimeout(resolve, 60, false));
  return Promise.race([promise.then(() => true), later]);
};

describe('a reader of tables that its own process fills', () => {
  it('waits for what the log had at its call, and for no more', async () => {
    const publication = createPublication();
    let end = 5;
    const log = { endOffset: async () => end };
    const atEnd = createReadAtEnd({
      log,
      published: (...args) => publication.published(...args),
    });
    publication.advance(0, 4);
    const first = atEnd(0);
    expect(await isSettled(first)).toBe(false);
    end = 9;
    publication.advance(0, 5);
    await first;
    const second = atEnd(0);
    expect(await isSettled(second)).toBe(false);
    publication.advance(0, 9);
    await second;
  });

  it('looks once for all who ask before it looks', async () => {
    let looks = 0;
    const log = {
      endOffset: async () => {
        looks += 1;
        return 0;
      },
    };
    const atEnd = createReadAtEnd({ log, published: async () => undefined });
    await atEnd(0);
    looks = 0;
    await Promise.all(Array.from({ length: 20 }, () => atEnd(0)));
    expect(looks).toBe(1);
  });

  it('reads what is there when the log does not answer', async () => {
    const asked: number[] = [];
    const published = async (_: number, offset: number) => void asked.push(offset);
    const failing = { endOffset: () => Promise.reject(new Error('no broker')) };
    await createReadAtEnd({ log: failing, published })(0);
    const silent = { endOffset: () => Promise.withResolvers<number>().promise };
    await createReadAtEnd({ log: silent, published })(0);
    expect(asked).toEqual([0, 0]);
  });
});
