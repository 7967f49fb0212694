import { seeded } from '#test/support/judges/random.ts';
import { generateAnswer } from './http1-messages.ts';
import { compareReaders } from './http1-readers.ts';

export interface Http1Outcome {
  readonly rounds: number;
  /** Answers that the gateway's client read to their end. */
  readonly accepted: number;
  /** Answers that Node's client reads as something else, each with how to see it. */
  readonly differences: readonly string[];
}

const differencesMax = 3;

/**
 * Generated answers, read by the gateway's client of HTTP/1.1 and by Node's: what ours accepts, Node's reads as the same
 * message. Two readings of one answer are how a caller gets the answer of another (RFC 9112 section 11.2).
 */
export async function fuzzHttp1(seed: number, rounds: number): Promise<Http1Outcome> {
  const random = seeded(seed);
  const differences: string[] = [];
  let accepted = 0;
  let round = 0;
  while (round < rounds && differences.length < differencesMax) {
    round += 1;
    const answer = generateAnswer(random);
    const { isAccepted, difference } = await compareReaders(answer);
    if (isAccepted) accepted += 1;
    if (difference === null) continue;
    differences.push(
      `round ${round} of SVC_TEST_SEED=${seed}: ${JSON.stringify(answer)}\n${difference}`,
    );
  }
  return { rounds: round, accepted, differences };
}
