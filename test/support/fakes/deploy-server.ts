import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { DeployRequest } from '#cli/deploy/package.ts';
import type { DeployPreview } from '#client/index.ts';

export interface Asked {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly userAgent: string | undefined;
  readonly body: DeployRequest;
}

/** A service that knows the two endpoints of a deployment and answers what the test sets. */
export interface DeployServer extends AsyncDisposable {
  readonly url: string;
  readonly asked: Asked[];
  answer: { status: number; body: unknown };
}

export const emptyPlan: DeployPreview = {
  created: [],
  updated: [],
  unchanged: [],
  deleted: [],
  deletedModels: [],
  breaking: [],
  syncs_pending: false,
};

export async function deployServer(): Promise<DeployServer> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const text = (await Array.fromAsync(request)).join('');
      const { authorization, 'user-agent': userAgent } = request.headers;
      if (text !== '') {
        const body = JSON.parse(text) as DeployRequest;
        asked.push({ path: request.url ?? '', authorization, userAgent, body });
      }
      response.writeHead(self.answer.status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(self.answer.body));
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const self: DeployServer = {
    url: `http://127.0.0.1:${port}`,
    asked,
    answer: { status: 200, body: emptyPlan },
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  return self;
}
