import { ApiError, refusal } from '../client/api-error.ts';
import { eventsOf } from './sse.ts';
import { isJsonObject, type Json, type JsonObject } from '../kernel/stable-json.ts';

/** @see src/modules/functions/functions/shapes.ts `planShape` */
export interface DeployedItem {
  readonly integrationId: string;
  readonly name: string;
  readonly type: 'sync' | 'action' | 'on-event';
  /** Number of connections of the integration. */
  readonly connections: number;
  readonly auto_start: boolean;
}

export interface DeployPlan {
  readonly created: readonly DeployedItem[];
  readonly updated: readonly DeployedItem[];
  readonly unchanged: readonly DeployedItem[];
  readonly deleted: readonly DeployedItem[];
  readonly deletedModels: readonly string[];
}

export type ReconciliationScope =
  | { readonly kind: 'environment' }
  | { readonly kind: 'integration'; readonly integrationId: string }
  | {
      readonly kind: 'function';
      readonly integrationId: string;
      readonly name: string;
      readonly type: 'sync' | 'action' | 'on-event';
    };

export interface DeployRequest {
  readonly reconciliationScope: ReconciliationScope;
  readonly functions: readonly JsonObject[];
}

export { ApiError };

/** The client of the command line: the public API. */
export interface ApiClient {
  /** @throws ApiError */
  previewDeploy(request: DeployRequest): Promise<DeployPlan>;
  /** @throws ApiError */
  deploy(request: DeployRequest): Promise<DeployPlan>;
  /** Any other call of the API; its response is not validated. @throws ApiError */
  call(
    method: string,
    path: string,
    body?: JsonObject,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Json>;
  /** The data of a stream of events, until the signal aborts. @throws ApiError */
  events(path: string, signal: AbortSignal): AsyncGenerator<Json>;
  /** A call whose response is returned unchanged, whatever its status. @throws ApiError without a response */
  send(request: ApiRequest): Promise<ApiReply>;
}

export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
}

export interface ApiReply {
  readonly status: number;
  readonly statusText: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

const timeoutMs = 120_000;

export function apiClient(options: {
  readonly host: string;
  readonly secretKey: string;
  readonly version: string;
}): ApiClient {
  const common = {
    authorization: `Bearer ${options.secretKey}`,
    'user-agent': `svc-cli/${options.version}`,
  };
  const send = async ({ method, path, headers, body }: ApiRequest): Promise<ApiReply> => {
    const reply = await fetched(`${options.host}${path}`, {
      method,
      headers: { ...common, ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : Buffer.from(body) }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const { status, statusText } = reply;
    const bytes = Buffer.from(await reply.arrayBuffer());
    return { status, statusText, headers: Object.fromEntries(reply.headers), body: bytes };
  };
  const call = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Json> => {
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const reply = await send({
      method,
      path,
      headers: { ...type, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = reply.body.toString('utf8');
    if (reply.status < 200 || reply.status > 299) throw refusal(reply.status, text);
    return parse(text);
  };
  return {
    previewDeploy: async (request) =>
      asPlan(await call('POST', '/functions/deployments/bundle/preview', request)),
    deploy: async (request) => asPlan(await call('POST', '/functions/deployments/bundle', request)),
    call,
    events: (path, signal) =>
      eventsOf(
        (headers, ended) =>
          fetched(`${options.host}${path}`, { headers: { ...common, ...headers }, signal: ended }),
        signal,
      ),
    send,
  };
}

async function fetched(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `Could not reach ${url}: ${reason}. Start the service, or name its address in SVC_HOSTPORT.`;
    throw new ApiError('unreachable', message, { cause: error });
  }
}

function parse(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw new ApiError('invalid_answer', 'The response of the service is not JSON.');
  }
}

function asPlan(body: Json): DeployPlan {
  const lists = ['created', 'updated', 'unchanged', 'deleted', 'deletedModels'] as const;
  if (!isJsonObject(body) || !lists.every((name) => Array.isArray(body[name]))) {
    throw new ApiError('invalid_answer', 'The service did not answer with a deployment plan.');
  }
  // The API guarantees the shape, including its lists.
  return body as unknown as DeployPlan;
}
