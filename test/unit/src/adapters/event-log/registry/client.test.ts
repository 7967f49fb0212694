import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { RegistryClient } from '#adapters/event-log/registry/client.ts';

const answer = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{';

describe('a registry that dies in the middle of an answer', () => {
  it('is unavailable, and every wait is limited', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined); // its end is seen
      socket.once('data', () => socket.end(answer));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const client = new RegistryClient(`http://127.0.0.1:${port}`, 100);
    await expect(client.definition(1)).rejects.toMatchObject({ code: 'registry_unavailable' });
    server.close();
  });
});
