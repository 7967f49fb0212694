import { describe, expect, it } from 'vitest';
import { fuzzLeftovers } from '#test/fuzz/http1-leftovers.ts';
import { fuzzHttp1 } from '#test/fuzz/http1.ts';
import { roundsOf } from '#test/support/judges/long-run.ts';
import { seedOfRun } from '#test/support/judges/random.ts';

const rounds = roundsOf({ push: 500, all: 5_000 });
const seed = seedOfRun();
console.log(`SVC_TEST_SEED=${seed}`);

describe('the client of HTTP/1.1', () => {
  it("accepts no answer that Node's reads as something else", async () => {
    const { accepted, differences } = await fuzzHttp1(seed, rounds);
    console.log(`${rounds} answers, ${accepted} of them accepted`);
    expect(differences).toEqual([]);
    expect(accepted).toBeGreaterThan(rounds / 10);
  });

  it('never takes what is left on a connection for the next answer', async () => {
    const { connections, mistaken } = await fuzzLeftovers(seed, rounds);
    console.log(`${rounds} calls over ${connections} connections`);
    expect(mistaken).toEqual([]);
    expect(connections).toBeLessThan(rounds);
  });
});
