import { expiringCache } from '#kernel/cache.ts';
import { GatewayError } from '#kernel/errors.ts';
import { joinKey } from '#kernel/ids.ts';
import { limits } from '#kernel/limits.ts';
import { Mask } from '#kernel/mask.ts';
import { type JsonObject, isJsonObject } from '#kernel/stable-json.ts';
import { secretsOfCredentials } from '#modules/connections/credentials/secrets.ts';
import type { Lease } from '#ports/coordination.ts';
import type { HostCall, HostCalls } from '#ports/sandbox.ts';
import { parseArgs, shapes } from '#rules/arguments.ts';
import type { RuntimeDeps, ConnectionName, RunConnection } from './deps.ts';
import { abortError, providerCalls } from './provider-calls.ts';
import { recordCalls } from './record-calls.ts';
import { SeenConnections } from './seen-connections.ts';

/** How long a run may use a cached integration. */
const integrationMs = 10 * 60_000;
/** More than there are combinations of `include`. */
const viewsMax = 8;

type Calls = Pick<
  HostCalls,
  'getConnection' | 'getIntegration' | 'setMetadata' | 'updateMetadata' | 'getEnvironmentVariables'
>;

/** The calls that read the connection and integration, and write metadata. */
function connectionCalls(deps: RuntimeDeps, seen: SeenConnections, mask: Mask): Calls {
  const { run, connections } = deps;
  const integrations = expiringCache<string>(viewsMax, integrationMs, deps.clock);

  const getConnection = async (args: string): Promise<string> => {
    const input = parseArgs(shapes.getConnection, args);
    const name: ConnectionName = {
      integrationKey: input.providerConfigKey ?? run.integrationKey,
      connectionId: input.connectionId ?? run.connectionId,
    };
    const { forceRefresh = false, refreshToken = false } = input;
    return seen.view(name, { forceRefresh, refreshToken });
  };

  const getIntegration = async (include: readonly string[]): Promise<JsonObject> => {
    const view = await connections.integration(include);
    const { credentials } = view;
    if (isJsonObject(credentials))
      secretsOfCredentials(credentials).forEach((one) => mask.add(one));
    return view;
  };

  /** The next read sees the write, or after a failure the current state. */
  const writeMetadata =
    (write: (metadata: JsonObject) => Promise<void>) => async (args: string) => {
      const { metadata } = parseArgs(shapes.metadata, args);
      try {
        await write(metadata);
      } finally {
        seen.forget();
      }
      return 'null';
    };

  return {
    getConnection,
    getIntegration: async (args) => {
      const include = [...parseArgs(shapes.getIntegration, args).include].sort();
      const key = include.join();
      const existing = integrations.get(key);
      if (existing !== undefined) return existing;
      const text = JSON.stringify(await getIntegration(include));
      integrations.set(key, text);
      return text;
    },
    setMetadata: writeMetadata((metadata) => connections.setMetadata(metadata)),
    updateMetadata: writeMetadata((metadata) => connections.updateMetadata(metadata)),
    getEnvironmentVariables: async () => {
      const variables = await deps.variables();
      for (const { value } of variables ?? []) mask.add(value);
      return JSON.stringify(variables);
    },
  };
}

/** The host side of one run; disposing it releases the resources of the run. */
export interface RuntimeHost extends AsyncDisposable {
  readonly calls: HostCalls;
  /** Masks the secrets that the run got so far, in all its texts except records and results. */
  readonly mask: Mask;
}

/**
 * All effects that a function of this run can have (docs/reference/functions.md#handle). Once the signal is aborted,
 * every call is refused with its reason.
 */
export function createRuntimeHost(deps: RuntimeDeps): RuntimeHost {
  const mask = new Mask();
  const masked = maskedDeps(deps, mask);
  const seen = new SeenConnections(deps, (connection) => {
    secretsOfConnection(connection).forEach((secret) => mask.add(secret));
  });
  const locks = lockCalls(deps);
  const calls: HostCalls = {
    ...providerCalls(masked, seen.open),
    ...logCalls(masked),
    ...connectionCalls(deps, seen, mask),
    ...checkpointCalls(masked),
    ...runCalls(deps),
    ...locks.calls,
    ...(deps.run.type === 'sync' ? recordCalls(masked) : {}),
  };
  const guarded = Object.entries(calls).map(([name, call]) => [name, guard(call, deps.signal)]);
  return {
    calls: Object.fromEntries(guarded) as HostCalls,
    mask,
    [Symbol.asyncDispose]: () => locks.releaseAll(),
  };
}

/** Texts about the run do not contain the secrets that it got. */
function maskedDeps(deps: RuntimeDeps, mask: Mask): RuntimeDeps {
  const { log, timeline } = deps;
  return {
    ...deps,
    log: {
      lines: (lines) =>
        log.lines(
          lines.map(({ level, message, payload }) => ({
            level,
            message: mask.text(message),
            payload: payload === null ? null : mask.text(payload),
          })),
        ),
      http: (line) => log.http(mask.data(line)),
      waits: (limit, ms) => log.waits(limit, ms),
    },
    timeline: (note) => timeline(mask.data(note)),
  };
}

function guard(call: HostCall, signal: AbortSignal): HostCall {
  return async (args) => {
    if (signal.aborted) throw abortError(signal);
    return call(args);
  };
}

type CheckpointCalls = Pick<HostCalls, 'getCheckpoint' | 'saveCheckpoint' | 'clearCheckpoint'>;

/** Progress that outlives the run (docs/reference/functions.md#checkpoints). */
function checkpointCalls({ checkpoint, timeline, budget }: RuntimeDeps): CheckpointCalls {
  return {
    getCheckpoint: async () => JSON.stringify(await checkpoint.get()),
    saveCheckpoint: async (args) => {
      const flat = flatCheckpoint(parseArgs(shapes.saveCheckpoint, args).checkpoint);
      await checkpoint.save(flat);
      timeline({ what: 'checkpoint_saved', message: JSON.stringify(flat) });
      budget?.afterCheckpoint();
      return 'null';
    },
    clearCheckpoint: async () => {
      await checkpoint.clear();
      timeline({ what: 'checkpoint_cleared' });
      return 'null';
    },
  };
}

/** @throws GatewayError `invalid_checkpoint` unless it is a flat object of strings, numbers and booleans */
function flatCheckpoint(checkpoint: Readonly<Record<string, unknown>>): JsonObject {
  for (const [key, value] of Object.entries(checkpoint)) {
    if (!['string', 'number', 'boolean'].includes(typeof value)) {
      throw invalid(`"${key}" must be a string, a number or a boolean`);
    }
  }
  if (Buffer.byteLength(JSON.stringify(checkpoint)) > limits.checkpointBytesMax) {
    throw invalid('it is larger than 16 kB');
  }
  return checkpoint as JsonObject;
}

function invalid(why: string): GatewayError {
  return new GatewayError('invalid_checkpoint', { message: `Invalid checkpoint: ${why}.` });
}

type LockCalls = Pick<HostCalls, 'tryAcquireLock' | 'releaseLock' | 'releaseAllLocks'>;

/** Locks of an environment, held by the run; they end with it or with their time. */
function lockCalls({ run, coordination }: RuntimeDeps): {
  calls: LockCalls;
  releaseAll: () => Promise<void>;
} {
  const held = new Map<string, Lease>();
  const token = `${run.runId}/${run.attempt}`;

  const release = async (key: string): Promise<boolean> => {
    const lease = held.get(key);
    if (lease === undefined) return false;
    held.delete(key);
    await coordination.release(lease);
    return true;
  };
  const releaseAll = async (): Promise<void> => {
    await Promise.all([...held.keys()].map(release));
  };

  return {
    releaseAll,
    calls: {
      tryAcquireLock: async (args) => {
        const { key, ttlMs } = parseArgs(shapes.acquireLock, args);
        const name = joinKey('function-lock', run.environmentUid, key);
        const lease = await coordination.acquire(name, { ttlMs, token });
        if (lease !== null) held.set(key, lease);
        return JSON.stringify(lease !== null);
      },
      releaseLock: async (args) => {
        return JSON.stringify(await release(parseArgs(shapes.releaseLock, args).key));
      },
      releaseAllLocks: async () => {
        await releaseAll();
        return 'null';
      },
    },
  };
}

/** Limit of the log of one run; further lines are dropped with one notice. */
const linesMax = 10_000;
const charsMax = 10 * 1024 ** 2;

function logCalls({ log }: RuntimeDeps): Pick<HostCalls, 'log'> {
  let linesLeft = linesMax;
  let charsLeft = charsMax;
  let isFull = false;
  return {
    log: async (args) => {
      const { lines } = parseArgs(shapes.log, args);
      if (isFull) return 'null';
      const kept = lines.filter(({ message, payload }) => {
        linesLeft -= 1;
        charsLeft -= message.length + (payload?.length ?? 0);
        return linesLeft >= 0 && charsLeft >= 0;
      });
      if (kept.length > 0) log.lines(kept);
      if (kept.length < lines.length) {
        isFull = true;
        const message = 'The log of this run is full; further lines are dropped.';
        log.lines([{ level: 'warn', message, payload: null }]);
      }
      return 'null';
    },
  };
}

/** Maximum call depth of actions (docs/reference/limits.md#runs). */
const depthMax = 8;

type RunCalls = Pick<HostCalls, 'triggerAction' | 'triggerSync' | 'startSync'>;

/** The calls that start other functions of the environment. */
function runCalls(deps: RuntimeDeps): RunCalls {
  const { run, syncs, signal } = deps;
  return {
    triggerAction: async (args) => {
      const { providerConfigKey, connectionId, name, input } = parseArgs(
        shapes.triggerAction,
        args,
      );
      if (run.depth >= depthMax) {
        const message = `Actions can call one another at most ${depthMax} levels deep.`;
        throw new GatewayError('resource_capped', { message });
      }
      const output = await deps.triggerAction(
        {
          integrationKey: providerConfigKey ?? run.integrationKey,
          connectionId: connectionId ?? run.connectionId,
          name,
          input,
          depth: run.depth + 1,
        },
        signal,
      );
      return JSON.stringify({ output });
    },
    triggerSync: async (args) => {
      const call = parseArgs(shapes.triggerSync, args);
      const { providerConfigKey: integrationKey, connectionId, name, variant = null } = call;
      await syncs.trigger({ integrationKey, connectionId, name, variant }, call.options);
      return 'null';
    },
    startSync: async (args) => {
      const call = parseArgs(shapes.startSync, args);
      const { providerConfigKey: integrationKey, connectionId = null } = call;
      await syncs.start({ integrationKey, connectionId }, call.names);
      return 'null';
    },
  };
}

/** Secrets of a connection that texts of a run must not contain. */
function secretsOfConnection({ connection, integration }: RunConnection): string[] {
  const { clientId, clientSecret } = integration;
  const client = { client_id: clientId ?? null, client_secret: clientSecret ?? null };
  return [...secretsOfCredentials(connection.credentials ?? {}), ...secretsOfCredentials(client)];
}
