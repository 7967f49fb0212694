import { openInProcessCoordination } from '#adapters/coordination/in-process.ts';
import type { Provider } from '#modules/connections/providers/definition.ts';
import type { RuntimeDeps, HttpLine, RunScope } from '#modules/functions/runs/runtime/deps.ts';
import { createRuntimeHost } from '#modules/functions/runs/runtime/host.ts';
import type { RecordReader } from '#modules/records/read/reader.ts';
import type { RecordWriter } from '#modules/records/write/writer.ts';
import {
  HttpFailure,
  type HttpClient,
  type HttpReply,
  type OutgoingRequest,
} from '#ports/http-client.ts';
import type { HostCalls, LogLine } from '#ports/sandbox.ts';

export const provider: Provider = {
  name: 'crm-provider',
  display_name: 'CRM',
  categories: [],
  auth_mode: 'OAUTH2',
  docs: '',
  proxy: { base_url: 'https://api.crm.test/v1' },
};

export const scope: RunScope = {
  runId: 'run-1',
  attempt: 1,
  actor: 'run:run-1',
  type: 'sync',
  functionName: 'contacts',
  environmentUid: 'env-1',
  integrationKey: 'crm',
  connectionId: 'c-1',
  connectionUid: 'uid-1',
  variant: 'base',
  models: ['Contact', 'Deal'],
  depth: 0,
};

export const ok = (
  body: unknown = {},
  headers: Record<string, string> = {},
  status = 200,
): HttpReply => ({
  status,
  statusText: 'OK',
  headers,
  body: Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body)),
  url: 'https://api.crm.test/v1/items',
});

/** Answers in turn; the last one stays. */
export function fakeHttp(...answers: (HttpReply | Error)[]) {
  const requests: OutgoingRequest[] = [];
  const client: HttpClient = {
    async request(request) {
      const answer = answers[Math.min(requests.length, answers.length - 1)] ?? ok();
      requests.push(request);
      if (answer instanceof Error) throw answer;
      return answer;
    },
    forward: () => Promise.reject(new Error('a function streams nothing')),
    async [Symbol.asyncDispose]() {
      // nothing is held
    },
  };
  return { client, requests };
}

export const failure = (code: string): HttpFailure => new HttpFailure(code, `failed: ${code}`);

/** A call of the host table with JSON in and out. */
export async function ask(calls: HostCalls, method: keyof HostCalls, args: unknown = {}) {
  const answer = await calls[method]!(JSON.stringify(args));
  const { json, body } = typeof answer === 'string' ? { json: answer, body: undefined } : answer;
  return { value: JSON.parse(json) as unknown, body };
}

/** Every dependency as a fake that remembers; parts can be replaced. */
export function fakeRuntime(given: Partial<RuntimeDeps> = {}) {
  const waits: number[] = [];
  const lines: LogLine[] = [];
  const http: HttpLine[] = [];
  const opened: { name: object; options: object }[] = [];
  let nowMs = Date.UTC(2026, 0, 1);
  const deps: RuntimeDeps = {
    run: scope,
    connections: {
      open: async (name, options) => {
        opened.push({ name, options });
        return {
          provider,
          version: 1,
          connection: {
            credentials: { type: 'OAUTH2', access_token: 'token-1' },
            connectionConfig: {},
            metadata: {},
          },
          integration: {},
          limit: null,
          view: async () => ({ connection_id: name.connectionId, read: opened.length }),
        };
      },
      integration: async (include) => ({ unique_key: 'crm', include: [...include] }),
      setMetadata: async () => undefined,
      updateMetadata: async () => undefined,
    },
    checkpoint: {
      get: async () => null,
      save: async () => undefined,
      clear: async () => undefined,
    },
    records: { writer: {} as RecordWriter, reader: {} as RecordReader },
    triggerAction: async ({ name, input }) => ({ name, input: input ?? null }),
    syncs: { trigger: async () => undefined, start: async () => undefined },
    variables: async () => [{ name: 'A', value: 'b' }],
    http: fakeHttp(ok()).client,
    coordination: openInProcessCoordination(),
    timeline: () => undefined,
    log: {
      lines: (more) => lines.push(...more),
      http: (line) => http.push(line),
      waits: () => undefined,
    },
    clock: { now: () => nowMs, nowMicros: () => nowMs * 1000 },
    signal: new AbortController().signal,
    sleep: async (ms, signal) => {
      signal.throwIfAborted();
      waits.push(ms);
      nowMs += ms;
    },
    ...given,
  };
  const host = createRuntimeHost(deps);
  return {
    host,
    calls: host.calls,
    deps,
    waits,
    lines,
    http,
    opened,
    advance: (ms: number) => {
      nowMs += ms;
    },
  };
}
