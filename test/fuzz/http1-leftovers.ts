import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { codeOf, forwarded, Forwarding, okWith } from '#test/support/fakes/forwarding.ts';
import { seeded, type Random } from '#test/support/judges/random.ts';
import { generateAnswer } from './http1-messages.ts';

export interface LeftoversOutcome {
  readonly rounds: number;
  /** How many connections the calls took: fewer than calls where connections were used again. */
  readonly connections: number;
  /** Calls that got something else than their own answer. */
  readonly mistaken: readonly string[];
}

/**
 * Calls over real connections to a provider that sends more than it was asked for, at once or in a piece of its own: what is
 * left on a connection after an answer never becomes the next one.
 */
export async function fuzzLeftovers(seed: number, rounds: number): Promise<LeftoversOutcome> {
  const random = seeded(seed);
  const mistaken: string[] = [];
  await using world = new Forwarding();
  let expected = '';
  const to = await world.upstream((socket) => send(socket, answerTo(expected, random), random));
  const http = world.client();
  for (let round = 0; round < rounds; round += 1) {
    expected = `answer ${round}`;
    let body = '';
    const sink = {
      head: () => true,
      data(piece: Buffer): boolean {
        body += piece.toString('latin1');
        return true;
      },
    };
    const code = await codeOf(http.forward(forwarded(to.url), () => sink));
    const isOwn = code === 'answered' ? body.trimEnd() === expected : code === 'ECONNRESET';
    // The next call comes at once, or when all that has arrived is read.
    if (random.chance(70)) await setImmediate();
    if (!isOwn)
      mistaken.push(`round ${round} of SVC_TEST_SEED=${seed}: ${code} ${JSON.stringify(body)}`);
  }
  return { rounds, connections: to.sockets.length, mistaken };
}

/** The answer, and what is sent after it. */
function answerTo(body: string, random: Random): readonly [string, string] {
  const chunked = `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  const leftover = random.pick([
    () => '',
    () => '',
    () => okWith('evil'),
    () => `${okWith('evil')}${okWith('more evil')}`,
    () => 'HTTP/1.1 100 Continue\r\n\r\n',
    () => '\r\n',
    () => generateAnswer(random).pieces.join(''),
  ])();
  return [random.pick([okWith(body), chunked, filling(body)]), leftover];
}

/** Node reads as much from a socket at a time. */
const readBytes = 64 * 1024;

/** An answer that ends where a read does: what follows it comes with the next one. */
function filling(body: string): string {
  const head = okWith(body.padEnd(readBytes)).length - readBytes;
  return okWith(body.padEnd(readBytes - head));
}

function send(socket: Socket, [answer, leftover]: readonly [string, string], random: Random): void {
  socket.setNoDelay(true);
  if (leftover === '') {
    socket.write(answer, 'latin1');
    return;
  }
  const all = answer + leftover;
  const cut = random.pick([0, answer.length, answer.length + random.int(leftover.length)]);
  socket.write(all.slice(0, cut), 'latin1');
  socket.write(all.slice(cut), 'latin1');
}
