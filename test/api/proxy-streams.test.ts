import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openProxyWorld, type ProxyWorld } from '../support/proxy-world.ts';

const chunk = Buffer.alloc(64 * 1024, 'x');
const gigabyte = 1024 ** 3;
/** Far below what passes through, far above what garbage collection moves. */
const growthMaxBytes = 256 * 1024 ** 2;

let stack: AsyncDisposableStack;
let world: ProxyWorld;
/** Bytes of bodies that the upstream has taken, and of answers that it could give away. */
let taken = 0;
let given = 0;

const chunksOf = function* (bytes: number, count: (bytes: number) => void = () => undefined) {
  for (let left = bytes; left > 0; left -= chunk.length) {
    count(chunk.length);
    yield chunk;
  }
};

beforeAll(async () => {
  stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'svc-streams-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const server = createServer((asked, answer) => {
    if (asked.method === 'POST') {
      asked.on('data', (data: Buffer) => (taken += data.length));
      asked.on('end', () => answer.end(String(taken)));
      return;
    }
    const body = Readable.from(
      chunksOf(gigabyte, (bytes) => (given += bytes)),
      { objectMode: false },
    );
    // The caller may go away before the end.
    pipeline(body, answer).catch(() => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stack.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  world = stack.use(await openProxyWorld(folder, url));
});
afterAll(() => stack.disposeAsync());

/** Resident memory of the gateway, in bytes. */
async function residentBytes(): Promise<number> {
  const status = await readFile(`/proc/${world.gateway.process.pid ?? 0}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

/** How far memory grew beyond what it was, while the work was done. */
async function growthDuring(work: () => Promise<void>): Promise<number> {
  const before = await residentBytes();
  let highest = before;
  let isDone = false;
  const watching = (async () => {
    while (!isDone) {
      highest = Math.max(highest, await residentBytes());
      await wait(20);
    }
  })();
  await work().finally(() => {
    isDone = true;
  });
  await watching;
  return highest - before;
}

function proxied(method: string) {
  const { hostname, port } = new URL(world.gateway.url);
  return request({ hostname, port, method, path: '/proxy/stream', headers: world.headers });
}

describe('a gigabyte through the proxy', () => {
  it('comes down without being kept', async () => {
    let bytes = 0;
    const grown = await growthDuring(async () => {
      const asked = proxied('GET').end();
      const [answer] = (await once(asked, 'response')) as [Readable];
      for await (const data of answer) bytes += (data as Buffer).length;
    });
    expect(bytes).toBe(gigabyte);
    expect(grown).toBeLessThan(growthMaxBytes);
  });

  it('goes up without being kept', async () => {
    const grown = await growthDuring(async () => {
      const asked = proxied('POST');
      const answered = once(asked, 'response') as Promise<[Readable]>;
      await pipeline(Readable.from(chunksOf(gigabyte), { objectMode: false }), asked);
      const [answer] = await answered;
      const [text] = (await answer.toArray()) as [Buffer];
      expect(text.toString()).toBe(String(gigabyte));
    });
    expect(taken).toBe(gigabyte);
    expect(grown).toBeLessThan(growthMaxBytes);
  });

  it('waits where the caller does not read on', async () => {
    given = 0;
    const grown = await growthDuring(async () => {
      const asked = proxied('GET').end();
      const [answer] = (await once(asked, 'response')) as [Readable];
      await once(answer, 'readable');
      // Nothing is read until the upstream has been held up for a while.
      let before = -1;
      while (before !== given) {
        before = given;
        await wait(500);
      }
      answer.destroy();
    });
    expect(given).toBeLessThan(growthMaxBytes);
    expect(grown).toBeLessThan(growthMaxBytes);
  });
});
