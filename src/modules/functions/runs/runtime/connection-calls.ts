import { expiringCache } from '#kernel/cache.ts';
import type { Mask } from '#kernel/mask.ts';
import { isJsonObject, type JsonObject } from '#kernel/stable-json.ts';
import { secretsOfCredentials } from '#modules/connections/credentials/secrets.ts';
import type { HostCalls } from '#ports/sandbox.ts';
import { parseArgs, shapes } from './arguments.ts';
import type { ConnectionName, RuntimeDeps } from './deps.ts';
import type { SeenConnections } from './seen-connections.ts';

/** How long a run may use a cached integration. */
const integrationMs = 10 * 60_000;
/** More than there are combinations of `include`. */
const viewsMax = 8;

type Calls = Pick<
  HostCalls,
  'getConnection' | 'getIntegration' | 'setMetadata' | 'updateMetadata' | 'getEnvironmentVariables'
>;

/** The calls that read the connection and integration, and write metadata. */
export function connectionCalls(deps: RuntimeDeps, seen: SeenConnections, mask: Mask): Calls {
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
