import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { inTrace, traceHeaders, traceOf } from '../../../../src/control-plane/trace.ts';

const given = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

describe('a trace', () => {
  it('is the one that the header names', () => {
    expect(traceOf(given)).toBe(given);
  });

  it('is read from a later version as far as it is known', () => {
    const later = given.replace('00-', 'cc-');
    expect(traceOf(later)).toBe(given);
    expect(traceOf(`${later}-what-will-be`)).toBe(given);
  });

  it.each([
    undefined,
    '',
    given.toUpperCase(),
    given.slice(1),
    `${given}-more`,
    given.replace('00-', 'ff-'),
    given.replace('0af7651916cd43dd8448eb211c80319c', '0'.repeat(32)),
    given.replace('b7ad6b7169203331', '0'.repeat(16)),
    `${given.replace('00-', 'cc-')}more`,
    `${given}, ${given}`,
  ])('is a new one where the header names none: %s', (header) => {
    const made = traceOf(header);
    expect(made).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    expect(made).not.toBe(traceOf(header));
  });

  it('goes with what follows from the work, and with nothing else', async () => {
    const traced = inTrace(given, async () => {
      await wait(1);
      return traceHeaders();
    });
    expect(traceHeaders().traceparent).not.toBe(given);
    expect(await traced).toEqual({ traceparent: given });
  });
});
