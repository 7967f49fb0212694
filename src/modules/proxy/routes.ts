import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { errorAt } from '#http/define-route.ts';
import type { StreamCall, StreamRoute } from '#http/stream-route.ts';
import { GatewayError } from '#kernel/errors.ts';
import { uuidV4 } from '#kernel/ids.ts';
import { limits } from '#kernel/limits.ts';
import type { OpenedConnections } from '#modules/connections/connections/opened-connections.ts';
import { HttpFailure } from '#ports/http-client.ts';
import type { NotedOperation, OperationLogs } from '#ports/operation-log.ts';
import {
  failureBody,
  forwardCall,
  type CallOutcome,
  type ForwardServices,
} from './forward-call.ts';
import { callHeadersShape, readCallHeaders, type CallHeaders } from './headers.ts';

const withBody = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

export interface ProxyServices extends ForwardServices {
  readonly openedConnections: OpenedConnections;
  readonly logs: OperationLogs;
}

export const proxyRoute: StreamRoute<ProxyServices> = {
  prefix: '/proxy/',
  path: '/proxy/{path}',
  keepsSlash: true,
  methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
  credential: 'environment',
  scopes: ['environment:proxy'],
  summary: 'Send a request to the provider.',
  description:
    'It is forwarded with the credentials of the connection, and the response is passed on as it arrives. Headers named `Svc-Proxy-<Name>` are sent as `<Name>`.',
  params: z.object({
    path: z
      .string()
      .meta({ description: 'Path at the provider, with any query.', examples: ['contacts'] }),
  }),
  headers: callHeadersShape,
  bodyIdleMs: limits.proxyIdleMs,
  errors: [
    'invalid_headers',
    'unknown_provider_config',
    errorAt(400, 'unknown_connection'),
    'invalid_credentials',
    'connection_refresh_backoff',
    'connection_refresh_exhausted',
    'missing_api_url',
    'unsupported_provider',
    'url_not_allowed',
    'provider_limit_reached',
    'request_too_large',
  ],
  async handle(call) {
    const { request, response, begin, target, caller, services } = call;
    const requested = readCallHeaders(request.headers);
    const method = request.method ?? 'GET';
    const started = performance.now();
    const note = (outcome: CallOutcome | null, failure: string | null) => {
      const durationMs = Math.round(performance.now() - started);
      noteCall(call, requested, { outcome, failure, method, durationMs });
    };
    try {
      const outcome = await forwardCall({
        services,
        connections: services.openedConnections,
        environmentUid: caller.environmentUid,
        requested,
        method,
        target,
        body: bodyOf(request, method),
        contentLength: request.headers['content-length'],
        stream: call,
      });
      note(outcome, null);
    } catch (error) {
      note(
        null,
        error instanceof GatewayError || error instanceof HttpFailure ? error.code : 'server_error',
      );
      if (!(error instanceof HttpFailure)) throw error;
      if (response.headersSent) {
        response.destroy();
        return;
      }
      const { status, body } = failureBody(error, method);
      begin(status, ['content-type', 'application/json']);
      response.end(JSON.stringify(body));
    }
  },
};

/** A stream; null if the method has no body or the body is empty. */
function bodyOf(request: IncomingMessage, method: string): IncomingMessage | null {
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
  const hasBody = coding !== undefined || (length !== undefined && length !== '0');
  return withBody.has(method) && hasBody ? request : null;
}

interface CallObservation {
  readonly outcome: CallOutcome | null;
  readonly failure: string | null;
  readonly method: string;
  readonly durationMs: number;
}

/** One entry per call, without query, headers and bodies, which may contain secrets. */
function noteCall(
  { caller, services, target }: StreamCall<ProxyServices>,
  { integrationKey: integration, connectionId }: CallHeaders,
  observation: CallObservation,
): void {
  const operation = {
    operationId: uuidV4(),
    operationType: 'proxy:call' as const,
    environmentUid: caller.environmentUid,
    integration,
    connectionId,
  };
  services.logs.note(operation, new NotedCall(target, observation));
}

class NotedCall implements NotedOperation {
  readonly #target: string;
  readonly #observation: CallObservation;

  constructor(target: string, observation: CallObservation) {
    this.#target = target;
    this.#observation = observation;
  }

  get providerStatus(): number | null {
    return this.#observation.outcome?.status ?? null;
  }

  get tookMs(): number {
    return this.#observation.durationMs;
  }

  get state(): 'success' | 'failed' {
    const status = this.providerStatus;
    return status !== null && status < 400 ? 'success' : 'failed';
  }

  get text(): string {
    const { method, failure } = this.#observation;
    const status = this.providerStatus;
    const outcomeText = status === null ? `failed: ${failure ?? 'unknown'}` : `answered ${status}`;
    return `${method} ${this.#path} ${outcomeText}`;
  }

  get contextJson(): string {
    const { method, outcome, failure: code, durationMs } = this.#observation;
    const url = outcome?.url ?? this.#path;
    const attempts = outcome?.attempts ?? 0;
    return JSON.stringify({ method, url, status: this.providerStatus, code, durationMs, attempts });
  }

  get #path(): string {
    return this.#target.split('?', 1)[0] ?? '/';
  }
}
