import { isJsonObject, type Json, type JsonObject } from '../kernel/stable-json.ts';

/** Mirrors the answer of the service to 65 and 66 (contract/http.md section 9, design section 10). */
export interface DeployedItem {
  readonly integrationId: string;
  readonly name: string;
  readonly type: 'sync' | 'action' | 'on-event';
  /** Connections of the integration. */
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

/** The service's refusal in its own words, or why it could not be asked. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: string;
  /** Of the answer; null when there was none. */
  readonly status: number | null;

  constructor(
    code: string,
    message: string,
    options?: ErrorOptions & { readonly status?: number },
  ) {
    super(message, options);
    this.code = code;
    this.status = options?.status ?? null;
  }
}

/** The service as the command line sees it: its public API. */
export interface ApiClient {
  /** @throws ApiError */
  previewDeploy(request: DeployRequest): Promise<DeployPlan>;
  /** @throws ApiError */
  deploy(request: DeployRequest): Promise<DeployPlan>;
  /** Any other call of the API; what it answers is not looked at. @throws ApiError */
  call(method: string, path: string, body?: JsonObject): Promise<Json>;
}

const timeoutMs = 120_000;

export function apiClient(options: {
  readonly host: string;
  readonly secretKey: string;
  readonly version: string;
}): ApiClient {
  const call = async (method: string, path: string, body?: unknown): Promise<Json> => {
    const reply = await send(`${options.host}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${options.secretKey}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        'user-agent': `svc-cli/${options.version}`,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const text = await reply.text();
    if (!reply.ok) throw refusal(reply.status, text);
    return parse(text);
  };
  return {
    previewDeploy: async (request) =>
      asPlan(await call('POST', '/functions/deployments/bundle/preview', request)),
    deploy: async (request) => asPlan(await call('POST', '/functions/deployments/bundle', request)),
    call,
  };
}

async function send(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ApiError('unreachable', `Could not reach ${url}: ${reason}`, { cause: error });
  }
}

function parse(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw new ApiError('invalid_answer', 'The service answered something that is not JSON.');
  }
}

function refusal(status: number, text: string): ApiError {
  const error = errorOf(text);
  if (error === null) {
    return new ApiError(`http_${status}`, `The service answered ${status}.`, { status });
  }
  const code = typeof error['code'] === 'string' ? error['code'] : `http_${status}`;
  const message = typeof error['message'] === 'string' ? error['message'] : `Answered ${status}.`;
  const issues = Array.isArray(error['errors']) ? error['errors'].flatMap(issueText) : [];
  return new ApiError(code, [message, ...issues].join('\n  '), { status });
}

function errorOf(text: string): JsonObject | null {
  try {
    const body = JSON.parse(text) as Json;
    return isJsonObject(body) && isJsonObject(body['error']) ? body['error'] : null;
  } catch {
    return null;
  }
}

function issueText(issue: Json): string[] {
  if (!isJsonObject(issue) || typeof issue['message'] !== 'string') return [];
  const path = Array.isArray(issue['path']) ? issue['path'].join('.') : '';
  return [path === '' ? issue['message'] : `${path}: ${issue['message']}`];
}

function asPlan(body: Json): DeployPlan {
  const lists = ['created', 'updated', 'unchanged', 'deleted', 'deletedModels'] as const;
  if (!isJsonObject(body) || !lists.every((name) => Array.isArray(body[name]))) {
    throw new ApiError('invalid_answer', 'The service did not answer with a deployment plan.');
  }
  // The shape is the service's promise; its lists are there.
  return body as unknown as DeployPlan;
}
