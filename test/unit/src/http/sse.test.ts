import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { openSse, type SseStream } from '#http/sse.ts';
import type { StreamCall } from '#http/stream-route.ts';

/** Answers every request with what `work` sends. */
async function serve(work: (stream: SseStream, signal: AbortSignal) => Promise<void>) {
  const gone = new AbortController();
  const answer = async (response: ServerResponse): Promise<void> => {
    const begin: StreamCall['begin'] = (status, headers) => {
      response.writeHead(status, [...headers]);
    };
    using stream = openSse({ response, begin }, gone.signal);
    await work(stream, gone.signal);
  };
  const server = createServer((_, response) => {
    response.once('close', () => gone.abort());
    void answer(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    gone: gone.signal,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

it('sends events with their ids as lines of JSON, and ends when it is disposed', async () => {
  await using server = await serve(async (stream) => {
    await stream.send({ id: '1', event: 'message', data: { text: 'a\nb' } });
    await stream.send({ id: '2', event: 'end', data: null });
  });
  const answer = await fetch(server.url);
  expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(await answer.text()).toBe(
    'retry: 2000\n\nid: 1\nevent: message\ndata: {"text":"a\\nb"}\n\nid: 2\nevent: end\ndata: null\n\n',
  );
});

it('waits for a client that does not read, and goes on without one that has gone', async () => {
  const much = 'x'.repeat(1_000_000);
  let sent = 0;
  const ended = Promise.withResolvers<undefined>();
  await using server = await serve(async (stream, signal) => {
    while (!signal.aborted) {
      await stream.send({ id: String(sent), event: 'message', data: much });
      sent += 1;
    }
    ended.resolve(undefined);
  });
  const leaving = new AbortController();
  await fetch(server.url, { signal: leaving.signal });
  leaving.abort();
  await ended.promise;
  expect(server.gone.aborted).toBe(true);
  // Only what the buffers between the two take: a sender that does not wait would never come to see the end.
  expect(sent).toBeLessThan(100);
});
