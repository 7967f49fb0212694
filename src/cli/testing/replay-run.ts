import { GatewayError } from '#kernel/errors.ts';
import { parseWrittenJson } from '#kernel/exact-json.ts';
import { stableJson, type Json } from '#kernel/stable-json.ts';
import type { Sandbox, HostAnswer, HostCalls, HttpAnswer } from '#ports/sandbox.ts';
import { parseArgs, parseJson, shapes } from '#rules/arguments.ts';
import { InMemoryState } from '#rules/in-memory-state.ts';
import { runFunction, type BuiltFunction, type FunctionEnd } from '../dryrun/run-function.ts';
import { presentHash, savedArgs, savedRequest, type RequestedCall } from '../mocks/identity.ts';
import type { Mocks, SavedAnswer, SavedAnswers } from '../mocks/mocks.ts';

export interface ReplayEnd extends ReplayResult, FunctionEnd {}

/** Runs a function as it ran when the mocks were saved, without any outside access. */
export async function replayRun(
  sandbox: Sandbox,
  fn: BuiltFunction,
  mocks: Mocks,
  signal: AbortSignal,
): Promise<ReplayEnd> {
  const { calls, result } = replayHost(mocks);
  const { connection_id: id } = mocks.svc.getConnection;
  const connectionId = typeof id === 'string' ? id : '';
  const facts = { ...mocks.run, connectionId, environmentName: 'test' };
  const run = { input: mocks.input, facts, signal, inputValidation: 'error' } as const;
  return {
    ...result,
    ...(await runFunction(sandbox, fn, run, calls)),
  };
}

/** Records by model, in order of arrival. */
type RecordsByModel = Record<string, Json[]>;

interface ReplayResult {
  readonly batchSave: RecordsByModel;
  readonly batchUpdate: RecordsByModel;
  readonly batchDelete: RecordsByModel;
}

/** Answers a function's calls from saved data. A call that was not saved is an error. */
function replayHost(mocks: Mocks): {
  readonly calls: HostCalls;
  readonly result: ReplayResult;
} {
  const result: ReplayResult = { batchSave: {}, batchUpdate: {}, batchDelete: {} };
  const write = (method: keyof ReplayResult) => async (args: string) => {
    const { model, records } = parseJson(args) as { model: string; records: Json[] };
    (result[method][model] ??= []).push(...records);
    return 'null';
  };
  const nothing = async (): Promise<string> => 'null';
  const { svc } = mocks;
  const recorded = new ResponseRecording(mocks);
  const { getCheckpoint: checkpoint, getMetadata: metadata } = svc;
  const state = new InMemoryState({ checkpoint, metadata }, async () => metadata);
  const calls: HostCalls = {
    http: async (args) => recorded.answer('api', parseArgs(shapes.http, args), args),
    fetch: async (args) => {
      const { url, ...call } = parseArgs(shapes.fetch, args);
      return recorded.answer('fetch', { ...call, endpoint: url }, args);
    },
    log: nothing,
    ...state.calls,
    getConnection: async () => JSON.stringify({ ...svc.getConnection, metadata: state.metadata }),
    getIntegration: async (args) => recorded.call('getIntegration', args),
    getEnvironmentVariables: async (args) => recorded.call('getEnvironmentVariables', args),
    triggerAction: async (args) => recorded.call('triggerAction', args),
    triggerSync: nothing,
    startSync: nothing,
    batchSave: write('batchSave'),
    batchUpdate: write('batchUpdate'),
    batchDelete: write('batchDelete'),
    trackDeletesStart: nothing,
    trackDeletesEnd: async () => '{"deletedKeys":[]}',
    deleteRecordsFromPreviousExecutions: async () => '{"deletedKeys":[]}',
    getRecordsById: async (args) => recorded.call('getRecordsById', args),
    listRecords: async (args) => recorded.call('listRecords', args),
    setMergingStrategy: nothing,
    tryAcquireLock: async () => 'true',
    releaseLock: async () => 'true',
    releaseAllLocks: nothing,
  };
  return { calls, result };
}

/** Saved responses in order; the last response to a request is repeated. */
class ResponseRecording {
  readonly #mocks: Mocks;
  readonly #given = new Map<string, number>();

  constructor(mocks: Mocks) {
    this.#mocks = mocks;
  }

  answer(where: 'api' | 'fetch', call: RequestedCall, args: string): HostAnswer {
    const { method, path, request, hash } = savedRequest(call);
    const answers = answersTo(this.#mocks[where], method, path);
    const same = answers.filter(
      (answer) => answer.hash === hash || presentHash(method, path, answer.request) === hash,
    );
    const found = this.#next(`${where} ${hash}`, same);
    if (found === undefined) {
      throw unsaved(`${method.toUpperCase()} ${path}`, request, answers);
    }
    const { status, headers, encoding } = found;
    const isBinary =
      where === 'fetch' || (JSON.parse(args) as { bodyAs?: string }).bodyAs === 'binary';
    const json = {
      outcome: 'reply',
      status,
      statusText: '',
      headers,
      url: path,
    } satisfies HttpAnswer;
    const bytes =
      encoding === 'base64'
        ? Buffer.from(responseText(found.response), 'base64')
        : Buffer.from(responseText(found.response));
    return { json: JSON.stringify(json), body: bytes.toString(isBinary ? 'latin1' : 'utf8') };
  }

  call(method: string, args: string): string {
    const wanted = stableJson(savedArgs(parseWrittenJson(args) as Json));
    const saved = this.#mocks.svc.calls[method] ?? [];
    const same = saved.filter((one) => stableJson(one.args) === wanted);
    const found = this.#next(`${method} ${wanted}`, same);
    if (found === undefined)
      throw unsaved(`svc.${method}()`, savedArgs(parseWrittenJson(args) as Json), saved);
    return JSON.stringify(found.answer);
  }

  #next<T>(key: string, list: readonly T[]): T | undefined {
    const at = this.#given.get(key) ?? 0;
    this.#given.set(key, at + 1);
    return list[Math.min(at, list.length - 1)];
  }
}

const responseText = (response: Json): string =>
  typeof response === 'string' ? response : JSON.stringify(response);

const answersTo = (saved: SavedAnswers, method: string, path: string): readonly SavedAnswer[] =>
  saved[method]?.[path] ?? [];

function unsaved(what: string, wanted: unknown, saved: readonly unknown[]): GatewayError {
  const message =
    `${what} was not requested when the mocks were saved: ${JSON.stringify(wanted)}. ` +
    `Saved are ${JSON.stringify(saved).slice(0, 2000)}. Save them again with svc dryrun --save.`;
  return new GatewayError('invalid_request', { message });
}
