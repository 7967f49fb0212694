import type { JsonObject } from '../../../kernel/stable-json.ts';
import type { HostCalls } from '../../../ports/sandbox.ts';
import { parseArgs, shapes } from './arguments.ts';
import type { ConnectionName, RuntimeDeps } from './deps.ts';

/** How long a run may see a connection, an integration as it was (contract/functions.md section 16). */
const connectionMs = 60_000;
const integrationMs = 10 * 60_000;

type Calls = Pick<
  HostCalls,
  'getConnection' | 'getIntegration' | 'setMetadata' | 'updateMetadata' | 'getEnvironmentVariables'
>;

/** What a function reads of its connection and integration, and the metadata that it writes. */
export function connectionCalls(deps: RuntimeDeps): Calls {
  const { run, connections } = deps;
  const seen = cache(deps, connectionMs);
  const integrations = cache(deps, integrationMs);

  const getConnection = async (args: string): Promise<string> => {
    const given = parseArgs(shapes.getConnection, args);
    const name: ConnectionName = {
      integrationKey: given.providerConfigKey ?? run.integrationKey,
      connectionId: given.connectionId ?? run.connectionId,
    };
    const { forceRefresh = false, refreshToken = false } = given;
    const read = async () => (await connections.open(name, { forceRefresh, refreshToken })).view;
    if (forceRefresh || refreshToken) return JSON.stringify(await read());
    return seen.get(JSON.stringify(name), read);
  };

  /** The next reader sees what was written, and after a failure what there is. */
  const writeMetadata =
    (write: (metadata: JsonObject) => Promise<void>) => async (args: string) => {
      const { metadata } = parseArgs(shapes.metadata, args);
      try {
        await write(metadata);
      } finally {
        seen.clear();
      }
      return 'null';
    };

  return {
    getConnection,
    getIntegration: async (args) => {
      const include = [...parseArgs(shapes.getIntegration, args).include].sort();
      return integrations.get(include.join(), () => connections.integration(include));
    },
    setMetadata: writeMetadata((metadata) => connections.setMetadata(metadata)),
    updateMetadata: writeMetadata((metadata) => connections.updateMetadata(metadata)),
    getEnvironmentVariables: async () => JSON.stringify(await deps.variables()),
  };
}

/** JSON texts by key for a time. A failure is not kept. */
function cache({ clock }: RuntimeDeps, ttlMs: number) {
  const entries = new Map<string, { readonly text: string; readonly until: number }>();
  return {
    async get(key: string, read: () => Promise<JsonObject>): Promise<string> {
      const found = entries.get(key);
      if (found !== undefined && found.until > clock.now()) return found.text;
      const text = JSON.stringify(await read());
      entries.set(key, { text, until: clock.now() + ttlMs });
      return text;
    },
    clear: () => entries.clear(),
  };
}
