import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { Condition } from '../worlds/log.ts';

/** Stands before a server: closed, it is as if the server were away; open, as if the gate were not there. */
export interface Gate extends AsyncDisposable {
  /** The server's URL with the address of the gate. */
  readonly url: string;
  open(): void;
  /** Ends the connections, too. */
  close(): void;
  /** Resolves when somebody was refused since it was closed. */
  refused(): Promise<void>;
  /** Resolves when somebody was let through since it was opened. */
  passed(): Promise<void>;
}

/** A closed gate before the server of the URL. */
export async function startGate(url: string): Promise<Gate> {
  const [address = '', host = '', port = ''] = /([\w.]+):(\d+)/.exec(url) ?? [];
  const sockets = new Set<Socket>();
  const condition = new Condition();
  let isOpen = false;
  let comers = 0;
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    // Either side may end at any time: the other one is ended with it.
    socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
  };
  const set = (open: boolean): void => {
    isOpen = open;
    comers = 0;
    if (!open) for (const socket of sockets) socket.destroy();
  };
  const server = createServer((client) => {
    comers += 1;
    condition.changed();
    if (!isOpen) {
      client.destroy();
      return;
    }
    const behind = connect(Number(port), host);
    keep(client);
    keep(behind);
    client.pipe(behind).pipe(client);
    client.on('close', () => behind.destroy());
    behind.on('close', () => client.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const own = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: url.replace(address, own),
    open: () => set(true),
    close: () => set(false),
    refused: () => condition.until(() => !isOpen && comers > 0),
    passed: () => condition.until(() => isOpen && comers > 0),
    async [Symbol.asyncDispose]() {
      set(false);
      server.close();
      await once(server, 'close');
    },
  };
}
