import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PlayedProvider } from '#fake-providers/play.ts';
import type { JsonObject } from '#kernel/stable-json.ts';

/** What the gateway answers instead of the entry, once. */
export type Disturbance =
  | {
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
    }
  | 'cut';

/** Another gateway: the API that an import reads, over lists that a test changes. */
export interface FakeGateway extends AsyncDisposable {
  readonly url: string;
  readonly key: string;
  readonly integrations: JsonObject[];
  readonly connections: JsonObject[];
  /** With `provider_config_key` beside the fields of the API. */
  readonly syncs: JsonObject[];
  readonly variables: JsonObject[];
  /** Paths of all requests, with their query. */
  readonly requests: string[];
  /** The next requests whose path begins so are answered so. */
  disturb(path: string, ...answers: Disturbance[]): void;
  /** The number of the page that is sent for a page; unchanged by default. */
  pageOf: (page: number) => number;
}

export async function openFakeGateway(key: string): Promise<FakeGateway> {
  const disturbances: { path: string; answer: Disturbance }[] = [];
  const gateway = {
    key,
    integrations: [] as JsonObject[],
    connections: [] as JsonObject[],
    syncs: [] as JsonObject[],
    variables: [] as JsonObject[],
    requests: [] as string[],
    pageOf: (page: number) => page,
    disturb(path: string, ...answers: Disturbance[]) {
      disturbances.push(...answers.map((answer) => ({ path, answer })));
    },
  };
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    gateway.requests.push(path);
    const at = disturbances.findIndex((one) => path.startsWith(one.path));
    const [disturbed] = at === -1 ? [] : disturbances.splice(at, 1);
    if (disturbed?.answer === 'cut') request.socket.destroy();
    else if (disturbed !== undefined) {
      const { status, headers, body = '<html>' } = disturbed.answer;
      response.writeHead(status, headers).end(body);
    } else if (request.headers.authorization !== `Bearer ${key}`) {
      response.writeHead(401).end(`{"error":"unknown key ${request.headers.authorization}"}`);
    } else answer(gateway, new URL(path, 'http://gateway'), response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(gateway, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  });
}

type Lists = Pick<FakeGateway, 'integrations' | 'connections' | 'syncs' | 'variables' | 'pageOf'>;

function answer(lists: Lists, { pathname, searchParams }: URL, response: ServerResponse): void {
  const send = (body: unknown): void => {
    if (body === undefined) response.writeHead(404).end('{"error":{"code":"not_found"}}');
    else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  const [, section = '', name] = pathname.split('/').map((part) => decodeURIComponent(part));
  const key = searchParams.get('provider_config_key');
  const without = ({ credentials: _hidden, ...shown }: JsonObject): JsonObject => shown;
  if (section === 'integrations') {
    if (name === undefined) send({ data: lists.integrations.map(without) });
    else {
      const found = lists.integrations.find((one) => one['unique_key'] === name);
      send(found && { data: found });
    }
  } else if (section === 'connections') {
    if (name !== undefined) {
      send(
        lists.connections.find(
          (one) => one['connection_id'] === name && one['provider_config_key'] === key,
        ),
      );
      return;
    }
    const size = Number(searchParams.get('limit'));
    const page = lists.pageOf(Number(searchParams.get('page')));
    const some = lists.connections.slice(page * size, (page + 1) * size);
    send({
      connections: some.map(({ connection_config: _config, ...shown }) => without(shown)),
    });
  } else if (section === 'sync') {
    send({ syncs: lists.syncs.filter((one) => one['provider_config_key'] === key) });
  } else if (section === 'environment-variables') send(lists.variables);
  else send(undefined);
}

/** The integration of a played provider as the gateway returns it. */
export const shownIntegration = (name: string, played: PlayedProvider): JsonObject => ({
  unique_key: name,
  provider: name,
  display_name: `The ${name}`,
  credentials: played.integration,
});

/** A connection of a played provider as the gateway returns it, with new credentials that the provider takes. */
export function shownConnectionOf(
  name: string,
  played: PlayedProvider,
  connectionId: string,
  more: JsonObject = {},
): JsonObject {
  const { type, ...fields } = played.importable();
  const { privateKeyId, issuerId, privateKey, app_id, installation_id, ...rest } = fields;
  const ofStore =
    privateKeyId === undefined
      ? {}
      : { private_key_id: privateKeyId, issuer_id: issuerId ?? '', private_key: privateKey ?? '' };
  const ofApp = app_id === undefined ? {} : { app_id, installation_id: installation_id ?? '' };
  return {
    id: 1,
    connection_id: connectionId,
    provider_config_key: name,
    provider: name,
    created_at: '2026-01-02T03:04:05.000+00:00',
    metadata: { plan: 'pro', of: connectionId },
    connection_config: { ...played.toldConfig, ...played.connectionConfig, ...ofApp },
    tags: { team: 'x' },
    end_user: {
      id: `user-${connectionId}`,
      email: 'ada@example.com',
      display_name: null,
      tags: {},
      organization: { id: 'acme', display_name: 'Acme' },
    },
    errors: [],
    credentials: type === 'NONE' ? {} : { type: type ?? null, ...rest, ...ofStore, raw: {} },
    ...more,
  };
}
