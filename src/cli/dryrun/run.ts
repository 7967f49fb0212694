import { ApiError } from '#client/index.ts';
import { GatewayError } from '#kernel/errors.ts';
import { parseWrittenJson } from '#kernel/exact-json.ts';
import { type Json, type JsonObject, isJsonObject, objectOf } from '#kernel/stable-json.ts';
import type { HostCall, HostCalls } from '#ports/sandbox.ts';
import { parseArgs, shapes } from '#rules/arguments.ts';
import { callerError } from '#rules/caller-error.ts';
import { droppedText } from '#rules/dropped-lines.ts';
import { InMemoryState } from '#rules/in-memory-state.ts';
import type { CompiledFunction } from '../compiler/compile.ts';
import { savedArgs } from '../mocks/identity.ts';
import type { ConnectionName } from './connections.ts';
import { providerCalls } from './provider-calls.ts';
import { DryRecords } from './record-calls.ts';
import { runFunction } from './run-function.ts';
import { schemaCheck, type Violation } from './schema.ts';
import type { DryRunResult, DryRunRequest, DryRunSession, Stubs } from './session.ts';

/**
 * Runs a function locally, in the sandbox of the service, with a connection of the service.
 * @throws ApiError when connection or integration cannot be read
 */
export async function dryRun(session: DryRunSession, order: DryRunRequest): Promise<DryRunResult> {
  const { fn, connectionId, input, stubs } = order;
  const { definition, entry } = fn;
  const name = { integrationKey: entry.integrationKey, connectionId };
  const connection = await session.connections.connection(name);
  const refused = violationOf(
    { say: session.say, isValidated: session.isInputValidated },
    'invalid_action_input',
    definition.input,
    input,
    entry.kind,
  );
  if (refused !== null) return { output: undefined, failure: null, violation: refused };

  const records = new DryRecords(session, name, definition, stubs);
  const { provider } = connection;
  const paginate = await session.connections.pagination(provider);
  const { variant, lastSyncDate } = stubs;
  const environmentName = session.environment;
  const { output, failure, dropped } = await runFunction(
    session.sandbox,
    { entry, bundle: fn.bundle, models: Object.keys(definition.models) },
    {
      // Without a choice of changes an on-change function is called with none.
      input: entry.kind === 'on-change' ? (input ?? []) : input,
      facts: { connectionId, provider, environmentName, variant, lastSyncDate, paginate },
      signal: session.signal,
    },
    dryHost(session, { fn, name, stubs, records, depth: order.depth }, (other) =>
      dryRun(session, other),
    ),
  );
  if (dropped !== undefined) session.say('info', droppedText(dropped));
  if (session.isValidated && records.violation !== null) {
    return { output: undefined, failure: null, violation: records.violation };
  }
  if (failure !== null) return { output, failure, violation: null };
  const code = 'invalid_action_output';
  const violation = violationOf(session, code, definition.output, output, entry.kind);
  return { output, failure: null, violation };
}

/** Also null if a violation is only a warning. */
function violationOf(
  session: Pick<DryRunSession, 'isValidated' | 'say'>,
  code: Violation['code'],
  schema: JsonObject | null,
  value: Json | undefined,
  kind: string,
): Violation | null {
  if (kind !== 'action' || schema === null) return null;
  const lines = schemaCheck(schema)(value);
  if (lines.length === 0) return null;
  if (session.isValidated) return { code, lines, value: value ?? null };
  session.say('warn', `${code}: ${lines.join('; ')}`);
  return null;
}

const violationError = ({ code, lines }: Violation): GatewayError =>
  new GatewayError(code, { message: lines.join('; ') });

/** Depth of actions that trigger one another before it counts as infinite recursion. */
const depthMax = 10;

interface DryScope {
  readonly fn: CompiledFunction;
  readonly name: ConnectionName;
  readonly stubs: Stubs;
  readonly records: DryRecords;
  readonly depth: number;
}

/** The host side of a dry run: reads from the service, writes nothing. */
function dryHost(
  session: DryRunSession,
  scope: DryScope,
  runOther: (order: DryRunRequest) => Promise<DryRunResult>,
): HostCalls {
  const { name, records } = scope;
  const calls: HostCalls = {
    ...providerCalls(session, name),
    ...connectionCalls(session, scope),
    ...lockCalls(session),
    ...otherRuns(session, scope, runOther),
    ...(scope.fn.entry.kind === 'sync' ? records.calls : {}),
    log: async (args) => {
      const { lines } = parseArgs(shapes.log, args);
      for (const { level, message, payload } of lines) {
        session.say(level, payload === null ? message : `${message} ${payload}`);
      }
      return 'null';
    },
  };
  const guarded = Object.entries(calls).map(([method, call]) => [
    method,
    guard(method, call, session),
  ]);
  return Object.fromEntries(guarded) as HostCalls;
}

/** Calls whose responses a replay needs: they read data that the function did not write itself. */
const kept = new Set([
  'getIntegration',
  'getEnvironmentVariables',
  'triggerAction',
  'getRecordsById',
  'listRecords',
]);

/** A refusal of the service reaches the function unchanged. */
const guard =
  (method: string, call: HostCall, { signal, journal }: DryRunSession): HostCall =>
  async (args) => {
    if (signal.aborted) throw new GatewayError('script_aborted');
    try {
      const answer = await call(args);
      if (kept.has(method) && typeof answer === 'string') {
        const value = parseWrittenJson(answer) as Json;
        const saved = savedArgs(parseWrittenJson(args) as Json);
        journal.noteCall(method, saved, withoutValues(method, value));
      }
      return answer;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      throw new GatewayError('invalid_request', { message: `${error.message} (${error.code})` });
    }
  };

/** Client secrets and the values of variables must not be written to files. */
function withoutValues(method: string, answer: Json): Json {
  if (method === 'getIntegration' && isJsonObject(answer)) {
    return 'credentials' in answer ? { ...answer, credentials: null } : answer;
  }
  if (method !== 'getEnvironmentVariables' || !Array.isArray(answer)) return answer;
  return answer.map((one: Json) => (isJsonObject(one) ? { ...one, value: 'masked' } : one));
}

/** What the function writes stays local, and is visible to this run. */
function connectionCalls(session: DryRunSession, { name, stubs }: DryScope): HostCalls {
  const state = new InMemoryState(stubs, async () =>
    objectOf((await session.connections.connection(name)).metadata),
  );
  const isOwn = (other: ConnectionName): boolean =>
    other.integrationKey === name.integrationKey && other.connectionId === name.connectionId;
  return {
    ...state.calls,
    getConnection: async (args) => {
      const input = parseArgs(shapes.getConnection, args);
      const ref = {
        integrationKey: input.providerConfigKey ?? name.integrationKey,
        connectionId: input.connectionId ?? name.connectionId,
      };
      const { forceRefresh = false, refreshToken = false } = input;
      const connection = await session.connections.connection(ref, { forceRefresh, refreshToken });
      if (!isOwn(ref)) return JSON.stringify(connection);
      return JSON.stringify({ ...connection, metadata: await state.currentMetadata() });
    },
    getIntegration: async (args) => {
      const include = parseArgs(shapes.getIntegration, args).include.toSorted();
      const found = await session.connections.integration(name.integrationKey, { include });
      return JSON.stringify(found);
    },
    getEnvironmentVariables: async () =>
      JSON.stringify(await session.client.request('GET /environment-variables')),
  };
}

function lockCalls({ say }: DryRunSession): HostCalls {
  const skipped = (method: string): void => say('debug', `${method}() does nothing in a dry run`);
  return {
    tryAcquireLock: async (args) => {
      parseArgs(shapes.acquireLock, args);
      skipped('tryAcquireLock');
      return 'true';
    },
    releaseLock: async () => 'true',
    releaseAllLocks: async () => 'null',
  };
}

/** Other functions of the project run here too. */
function otherRuns(
  session: DryRunSession,
  scope: DryScope,
  runOther: (order: DryRunRequest) => Promise<DryRunResult>,
): HostCalls {
  const find = (
    kind: 'sync' | 'action',
    integrationKey: string,
    name: string,
  ): CompiledFunction => {
    const found = session.functions.find(
      ({ entry }) =>
        entry.kind === kind && entry.integrationKey === integrationKey && entry.name === name,
    );
    if (found !== undefined) return found;
    const message = `A dry run knows no ${kind} "${name}" of "${integrationKey}": index.ts names none.`;
    throw new GatewayError('not_found', { message });
  };
  const run = async (fn: CompiledFunction, on: ConnectionName, input: Json | undefined) => {
    if (scope.depth >= depthMax) throw new GatewayError('function_runtime_other');
    const ended = await runOther({
      fn,
      connectionId: on.connectionId,
      input,
      stubs: { metadata: null, checkpoint: null, lastSyncDate: null, variant: 'base' },
      depth: scope.depth + 1,
    });
    if (ended.violation !== null) throw violationError(ended.violation);
    if (ended.failure !== null) throw callerError(ended.failure, ended.failure.detail);
    return ended.output;
  };
  return {
    triggerAction: async (args) => {
      const supplied = parseArgs(shapes.triggerAction, args);
      const integrationKey = supplied.providerConfigKey ?? scope.name.integrationKey;
      const connectionId = supplied.connectionId ?? scope.name.connectionId;
      const fn = find('action', integrationKey, supplied.name);
      const output = await run(fn, { integrationKey, connectionId }, supplied.input);
      return JSON.stringify(output === undefined ? {} : { output });
    },
    triggerSync: async (args) => {
      const {
        providerConfigKey: integrationKey,
        connectionId,
        name,
      } = parseArgs(shapes.triggerSync, args);
      await run(find('sync', integrationKey, name), { integrationKey, connectionId }, undefined);
      return 'null';
    },
    startSync: async () => {
      session.say('debug', 'startSync() does nothing in a dry run');
      return 'null';
    },
  };
}
