import type { Json, JsonObject } from '#kernel/stable-json.ts';
import type { FunctionType, RunContext } from '#ports/sandbox.ts';
import { call, coded, throwIfAborted } from './bridge.ts';
import { ActionError } from './errors.ts';
import { request, requestPage, uncontrolledFetch, type Config } from './http.ts';
import { log, setLogger } from './log.ts';
import { paginate } from './paginate.ts';
import { recordMethods } from './records.ts';
import { checkCheckpoint, checkMetadata, isValidating } from './validation.ts';

/** The handle of a function: everything that it may use, without internals. */
export function makeHandle(type: FunctionType, context: RunContext): object {
  const { models, loggerLevel: _level, paginate: _paginate, ...shown } = context;
  const { lastSyncDate, validation: _validation, inputValidation: _input, ...facts } = shown;
  return facade({
    ...facts,
    lastSyncDate: lastSyncDate === null ? undefined : new Date(lastSyncDate),
    ActionError,
    log,
    setLogger,
    ...httpMethods(context),
    ...connectionMethods(),
    ...checkpointMethods(),
    ...otherMethods(),
    ...(type === 'sync' ? recordMethods(models) : {}),
  });
}

/** Names that code and the language look up on any object; they are absent. */
const ordinary = new Set(['then', 'toJSON', 'asymmetricMatch', 'inspect']);

function facade(members: Readonly<Record<string, unknown>>): object {
  const target = Object.freeze(Object.assign(Object.create(null) as object, members));
  return new Proxy(target, {
    get(_, name) {
      if (typeof name === 'symbol') return undefined;
      if (Object.hasOwn(members, name)) return members[name];
      if (ordinary.has(name)) return undefined;
      throw new Error(`Access to "${name}" is not allowed.`);
    },
    getPrototypeOf: () => null,
    set: () => false,
    defineProperty: () => false,
    deleteProperty: () => false,
  });
}

function httpMethods({ paginate: defaults }: RunContext) {
  return {
    get: (config: Config) => request(config, 'GET'),
    post: (config: Config) => request(config, 'POST'),
    put: (config: Config) => request(config, 'PUT'),
    patch: (config: Config) => request(config, 'PATCH'),
    delete: (config: Config) => request(config, 'DELETE'),
    proxy: (config: Config) => request(config),
    paginate: (config: Config) => paginate(config, defaults, requestPage),
    uncontrolledFetch,
  };
}

type Options = { forceRefresh?: boolean; refreshToken?: boolean } | undefined;

function connectionMethods() {
  const getConnection = async (
    providerConfigKey?: unknown,
    connectionId?: unknown,
    options?: Options,
  ): Promise<JsonObject> => {
    const { value } = await call('getConnection', {
      ...(typeof providerConfigKey === 'string' ? { providerConfigKey } : {}),
      ...(typeof connectionId === 'string' ? { connectionId } : {}),
      ...(options?.forceRefresh === true ? { forceRefresh: true } : {}),
      ...(options?.refreshToken === true ? { refreshToken: true } : {}),
    });
    return value;
  };
  const credentials = async (): Promise<JsonObject> => {
    const { credentials: found } = await getConnection();
    return typeof found === 'object' && found !== null ? (found as JsonObject) : {};
  };
  const getIntegration = async (options?: { include?: readonly string[] }): Promise<JsonObject> =>
    (await call('getIntegration', { include: options?.include ?? [] })).value;
  const setMetadata = (method: 'setMetadata' | 'updateMetadata') => async (metadata: unknown) => {
    const input = objectOf(metadata, method);
    if (isValidating()) checkMetadata(plainOf(input), method === 'updateMetadata');
    await call(method, { metadata: input });
  };
  return {
    getConnection,
    getIntegration,
    getMetadata: async () => (await getConnection())['metadata'] ?? {},
    setMetadata: setMetadata('setMetadata'),
    updateMetadata: setMetadata('updateMetadata'),
    getToken: async () => tokenOf(await credentials()),
    getRawTokenResponse: async () => (await credentials())['raw'] ?? {},
    getWebhookURL: async () =>
      (await getIntegration({ include: ['webhook'] }))['webhook_url'] ?? null,
  };
}

function tokenOf(credentials: JsonObject): unknown {
  switch (credentials['type']) {
    case 'OAUTH2':
    case 'MCP_OAUTH2':
      return credentials['access_token'];
    case 'OAUTH1':
      return {
        oAuthToken: credentials['oauth_token'],
        oAuthTokenSecret: credentials['oauth_token_secret'],
      };
    default:
      return credentials;
  }
}

function checkpointMethods() {
  return {
    getCheckpoint: async () => (await call('getCheckpoint', {})).value,
    saveCheckpoint: async (checkpoint: unknown): Promise<void> => {
      const flat = flatOf(checkpoint);
      checkCheckpoint(flat);
      await call('saveCheckpoint', { checkpoint: flat });
    },
    clearCheckpoint: async (): Promise<void> => {
      await call('clearCheckpoint', {});
    },
  };
}

/** Checked before JSON converts dates to text and drops unknown values. */
function flatOf(checkpoint: unknown): JsonObject {
  const isPlain =
    typeof checkpoint === 'object' &&
    checkpoint !== null &&
    !Array.isArray(checkpoint) &&
    !(checkpoint instanceof Date);
  if (!isPlain) throw invalidCheckpoint('it must be an object');
  for (const [key, value] of Object.entries(checkpoint)) {
    const isFlat =
      typeof value === 'string' ||
      typeof value === 'boolean' ||
      (typeof value === 'number' && Number.isFinite(value));
    if (!isFlat) throw invalidCheckpoint(`"${key}" must be a string, a number or a boolean`);
  }
  return checkpoint as JsonObject;
}

function invalidCheckpoint(why: string): Error {
  return coded(new Error(`Invalid checkpoint: ${why}.`), 'invalid_checkpoint');
}

function otherMethods() {
  return {
    getEnvironmentVariables: async () => (await call('getEnvironmentVariables', {})).value,
    triggerAction,
    triggerSync,
    startSync: async (
      providerConfigKey: string,
      names: string | readonly string[],
      connectionId?: string,
    ) => {
      await call('startSync', {
        providerConfigKey,
        names: [names].flat(),
        connectionId,
      });
    },
    zodValidateInput,
    tryAcquireLock: async (options: { key: string; ttlMs: number }) =>
      (await call('tryAcquireLock', { key: options.key, ttlMs: options.ttlMs })).value,
    releaseLock: async (options: { key: string }) =>
      (await call('releaseLock', { key: options.key })).value,
    releaseAllLocks: async () => {
      await call('releaseAllLocks', {});
    },
  };
}

/**
 * `(name, input?)`, or the long form (integration, connection, name, input?), recognized by three leading texts or
 * four arguments.
 */
async function triggerAction(...args: unknown[]): Promise<unknown> {
  const isLong =
    args.length >= 4 || (args.length === 3 && args.every((arg) => typeof arg === 'string'));
  const [providerConfigKey, connectionId, name, input] = isLong
    ? args
    : [undefined, undefined, ...args];
  try {
    const { value } = await call('triggerAction', {
      ...(isLong
        ? { providerConfigKey: String(providerConfigKey), connectionId: String(connectionId) }
        : {}),
      name: String(name),
      ...(input === undefined ? {} : { input: input as Json }),
    });
    return value.output;
  } catch (error) {
    throw error instanceof Error ? withResponse(error) : error;
  }
}

/** With the response that the trigger API would return, for code that reads it there. */
function withResponse(error: Error): Error {
  const { code, status, payload } = error as { code?: string; status?: number; payload?: unknown };
  if (status === undefined) return error;
  const data =
    code === 'action_script_failure'
      ? { error_type: code, payload }
      : { error: { code, message: error.message, payload } };
  return Object.assign(error, { isAxiosError: true, response: { status, data, headers: {} } });
}

async function triggerSync(
  providerConfigKey: string,
  connectionId: string,
  sync: string | { name: string; variant?: string },
  options?: JsonObject,
): Promise<void> {
  const { name, variant } = typeof sync === 'string' ? { name: sync } : sync;
  await call('triggerSync', {
    providerConfigKey,
    connectionId,
    name,
    variant,
    options: options ?? {},
  });
}

interface ZodLike {
  safeParse(input: unknown):
    | { success: true; data: unknown }
    | {
        success: false;
        error: { issues: readonly { path: readonly PropertyKey[]; message: string }[] };
      };
}

/** @throws ActionError after one log line per issue */
async function zodValidateInput(options: { zodSchema: ZodLike; input: unknown }): Promise<object> {
  throwIfAborted();
  const parsed = options.zodSchema.safeParse(options.input);
  if (parsed.success) return { success: true, data: parsed.data };
  for (const { path, message } of parsed.error.issues) {
    const where = path.map(String).join('.');
    await log(`Invalid input at "${where}": ${message}`, { level: 'error' });
  }
  throw new ActionError({ message: 'Invalid input provided' });
}

const plainOf = (value: JsonObject): JsonObject => JSON.parse(JSON.stringify(value)) as JsonObject;

function objectOf(value: unknown, method: string): JsonObject {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as JsonObject;
  throw new TypeError(`${method} takes an object`);
}
