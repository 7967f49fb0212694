import type { Socket } from 'node:net';
import { setImmediate, setTimeout as wait } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AnswerFlow, ForwardRequest, HttpClient } from '#ports/http-client.ts';
import { codeOf, forward, forwarded, Forwarding, okWith } from '#test/support/fakes/forwarding.ts';

let world: Forwarding;
beforeEach(() => {
  world = new Forwarding();
});
afterEach(() => world[Symbol.asyncDispose]());

describe('an answer that is still unpacked when its connection serves another call', () => {
  /** Starts a call whose unpacked answer is held up, and a second one over the same connection. */
  async function twoCalls(packed: Buffer, http: HttpClient) {
    const second = Promise.withResolvers<Socket>();
    let calls = 0;
    const to = await world.upstream((socket) => {
      calls += 1;
      if (calls > 1) {
        second.resolve(socket);
        return;
      }
      const head = `content-encoding: gzip\r\ncontent-length: ${packed.length}`;
      socket.write(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n`);
      socket.write(packed);
    });
    const held = Promise.withResolvers<AnswerFlow>();
    const cancellation: ForwardRequest['cancellation'] = { isCancelled: false, listener: null };
    const first = codeOf(
      http.forward({ ...forwarded(to.url), isDecoded: true, cancellation }, (flow) => ({
        head: () => true,
        data() {
          held.resolve(flow);
          return false;
        },
      })),
    );
    const flow = await held.promise;
    await setImmediate();
    const other = forward(http, to.url).then(({ body }) => body);
    const socket = await second.promise;
    expect(to.sockets).toHaveLength(1);
    return { first, flow, cancellation, other, finish: () => socket.write(okWith('other')) };
  }
  const large = gzipSync(Buffer.alloc(1024 ** 2));

  it('leaves that call alone when it turns out to be broken', async () => {
    const calls = await twoCalls(large.subarray(0, -10), world.client());
    const isOver = Promise.race([calls.first, wait(30_000, 'held up')]);
    const resuming = setInterval(() => calls.flow.resume(), 1);
    expect(await isOver).toBe('ERR_BODY_CODING');
    clearInterval(resuming);
    calls.finish();
    expect(await calls.other).toBe('other');
  });

  it('leaves that call alone when its caller goes away', async () => {
    const calls = await twoCalls(large, world.client());
    calls.cancellation.listener?.();
    expect(await calls.first).toBe('ERR_CANCELED');
    calls.finish();
    expect(await calls.other).toBe('other');
  });
});
