import { ApiError, type Client } from '#client/index.ts';
import { objectOf } from '#kernel/stable-json.ts';
import type { CompiledFunction } from '../compiler/compile.ts';
import { readManifest } from '../dependencies.ts';

interface CreatedIntegration {
  readonly key: string;
  readonly provider: string;
}

export interface LocalProject {
  readonly root: string;
  readonly functions: readonly CompiledFunction[];
  readonly note: (line: string) => void;
}

/**
 * Runs the task; where the service lacks an integration of the project, creates what is missing and runs it once more.
 * @throws ApiError
 */
export async function withIntegrations<T>(
  client: Client,
  { root, functions, note }: LocalProject,
  task: () => Promise<T>,
): Promise<T> {
  try {
    return await task();
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'integration_not_found')) throw error;
    const keys = functions.map(({ entry }) => entry.integrationKey);
    const created = await createMissingIntegrations(client, root, keys).catch(
      (refusal: unknown) => {
        // A key that may only deploy gets the first refusal, which names the integration.
        if (refusal instanceof ApiError && refusal.status === 403) return [];
        throw refusal;
      },
    );
    if (created.length === 0) throw error;
    for (const { key, provider } of created) {
      note(`Created the integration ${key} (provider ${provider})`);
    }
    return await task();
  }
}

/**
 * Creates those of the integrations that the service does not have yet, of the provider that `svc.integrations` of
 * package.json names for them, else of the provider of the same name (docs/reference/cli.md#integrations-of-a-project).
 * @returns the created ones; those without a provider are left out
 * @throws ApiError
 */
async function createMissingIntegrations(
  client: Client,
  root: string,
  keys: readonly string[],
): Promise<readonly CreatedIntegration[]> {
  const { data } = await client.request('GET /integrations');
  const existing = new Set(data.map((one) => one.unique_key));
  const declared = objectOf(objectOf(readManifest(root)['svc'])['integrations']);
  const created: CreatedIntegration[] = [];
  for (const key of new Set(keys)) {
    if (existing.has(key)) continue;
    const named = declared[key];
    const provider = typeof named === 'string' ? named : key;
    if (typeof named !== 'string' && !(await isProvider(client, provider))) continue;
    await client.request('POST /integrations', { body: { provider, unique_key: key } });
    created.push({ key, provider });
  }
  return created;
}

async function isProvider(client: Client, provider: string): Promise<boolean> {
  try {
    await client.request('GET /providers/{provider}', { params: { provider } });
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return false;
    throw error;
  }
}
