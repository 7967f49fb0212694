import { describe, expect, it } from 'vitest';
import { areReadable } from '../../../../../src/modules/records/readable.ts';
import { createPublication } from '../../../../../streams/projections/publication.ts';

const place = (partition: number, offset: number) => ({ model: 'Contact', partition, offset });

describe('what runs changed', () => {
  it('is waited for until it can be read', async () => {
    const publication = createPublication();
    publication.advance(0, 5);
    const asked = areReadable(publication, [[place(0, 5), place(1, 9)], [place(0, 4)], []]);
    let isAnswered = false;
    void asked.then(() => (isAnswered = true));
    publication.advance(1, 8);
    await new Promise((resolve) => setImmediate(resolve));
    expect(isAnswered).toBe(false);
    publication.advance(1, 9);
    expect(await asked).toEqual([true, true, true]);
  });

  it('is said not to be readable where that takes longer, run by run', async () => {
    const publication = createPublication();
    publication.advance(0, 5);
    const runs = [[place(0, 5)], [place(0, 5), place(1, 1)], [place(2, 1)]];
    expect(await areReadable(publication, runs)).toEqual([true, false, false]);
  });
});
