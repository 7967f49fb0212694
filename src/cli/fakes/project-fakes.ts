import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseFixture, type Fixture } from '#fake-providers/objects/fixture.ts';
import { ObjectApi } from '#fake-providers/objects/object-api.ts';
import type { PlayedProvider } from '#fake-providers/play.ts';
import { readDefinitions } from '#fake-providers/read-definitions.ts';
import { openFakeAuth } from '#fake-providers/server.ts';
import { objectOf, type JsonObject } from '#kernel/stable-json.ts';
import { readManifest } from '../dependencies.ts';
import { fixturesFolder } from '../project-layout.ts';

type Provider = PlayedProvider['definition'];

/** A fake of the provider of an integration, with the objects of its fixtures. */
export interface IntegrationFake {
  readonly integrationKey: string;
  readonly provider: Provider;
  readonly played: PlayedProvider;
  readonly api: ObjectApi;
  /** By their names. */
  readonly fixtures: ReadonlyMap<string, Fixture>;
}

/** The body of `POST /integrations`. */
export function integrationOf({ integrationKey, provider, played }: IntegrationFake) {
  const { integration: credentials } = played;
  // A fake has no limit of requests.
  const limit = { rate_limit: 'none' } as const;
  const names = { provider: provider.name, unique_key: integrationKey, ...limit };
  return credentials === null ? names : { ...names, credentials };
}

/** The body of `POST /connections`, with credentials that the fake takes. */
export function connectionOf(
  { integrationKey, played }: IntegrationFake,
  connectionId: string,
  metadata: JsonObject,
) {
  const { connection_lookup: steps = [] } = played.definition;
  // An import has no token response, and what the gateway looks up is left to it.
  const lookedUp = new Set(steps.flatMap((step) => Object.keys(step.connection_config)));
  const reported = Object.entries(played.toldConfig).filter(([name]) => !lookedUp.has(name));
  return {
    provider_config_key: integrationKey,
    connection_id: connectionId,
    credentials: played.importable(),
    connection_config: { ...played.connectionConfig, ...Object.fromEntries(reported) },
    metadata,
  };
}

export interface ProjectFakes extends AsyncDisposable {
  /** For `SVC_EGRESS_ALLOW`. */
  readonly hostPort: string;
  readonly integrationKeys: readonly string[];
  /** For a file of `SVC_PROVIDERS`. */
  definitions(): Readonly<Record<string, object>>;
  /** @throws Error why the fake cannot be played */
  of(integrationKey: string): IntegrationFake;
  /** Null: the integration has no fixtures, or they cannot be played. */
  find(integrationKey: string): IntegrationFake | null;
  /** Name of the provider of the integration: that of `package.json`, else its own. */
  providerOf(integrationKey: string): string;
}

/** Opens a fake of each integration of the project that has fixtures. */
export async function openProjectFakes(root: string): Promise<ProjectFakes> {
  const fake = await openFakeAuth();
  const catalog = readCatalog();
  const declared = objectOf(objectOf(readManifest(root)['svc'])['integrations']);
  const providerOf = (integrationKey: string): string => {
    const name = declared[integrationKey];
    return typeof name === 'string' ? name : integrationKey;
  };
  const fakes = new Map<string, IntegrationFake | Error>();
  for (const integrationKey of integrationsWithFixtures(root)) {
    const provider = catalog.get(providerOf(integrationKey));
    try {
      if (provider === undefined) throw new Error('the catalog has no such provider');
      const fixtures = readFixtures(join(root, integrationKey, fixturesFolder));
      const api = new ObjectApi(fixtures, provider.proxy);
      const played = fake.play(provider);
      played.serve((request, path) => api.answer(request, path));
      fakes.set(integrationKey, { integrationKey, provider, played, api, fixtures });
    } catch (error) {
      fakes.set(integrationKey, new Error(`${integrationKey}: ${(error as Error).message}`));
    }
  }
  return {
    hostPort: fake.hostPort,
    integrationKeys: [...fakes.keys()],
    definitions: () => fake.definitions(),
    providerOf,
    find(integrationKey) {
      const found = fakes.get(integrationKey);
      return found === undefined || found instanceof Error ? null : found;
    },
    of(integrationKey) {
      const found = fakes.get(integrationKey) ?? new Error(`${integrationKey} has no fixtures`);
      if (found instanceof Error) throw found;
      return found;
    },
    [Symbol.asyncDispose]: () => fake[Symbol.asyncDispose](),
  };
}

/** Equal as long as fixtures and providers of the integrations are the same. */
export function fixturesState(root: string): string {
  const { integrations = null } = objectOf(readManifest(root)['svc']);
  const files = integrationsWithFixtures(root).flatMap((key) => {
    const folder = join(root, key, fixturesFolder);
    return filesOf(folder, '.json').map((file) => [
      `${key}/${file}`,
      readFileSync(join(folder, file), 'utf8'),
    ]);
  });
  return JSON.stringify([integrations, files]);
}

const integrationsWithFixtures = (root: string): string[] =>
  readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(root, entry.name, fixturesFolder)))
    .map(({ name }) => name)
    .sort();

function readFixtures(folder: string): Map<string, Fixture> {
  const files = filesOf(folder, '.json');
  return new Map(
    files.map((file) => {
      try {
        const content: unknown = JSON.parse(readFileSync(join(folder, file), 'utf8'));
        return [basename(file, '.json'), parseFixture(content)] as const;
      } catch (error) {
        throw new Error(`${fixturesFolder}/${file}: ${(error as Error).message}`, { cause: error });
      }
    }),
  );
}

const filesOf = (folder: string, extension: string): string[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith(extension))
    .sort();

const catalogFolder = new URL('../../modules/connections/providers/', import.meta.url);

/** The build has the catalog in one file, the sources in a folder. */
function readCatalog(): Map<string, Provider> {
  const built = fileURLToPath(new URL('catalogue.json', catalogFolder));
  if (existsSync(built)) return readDefinitions([built]);
  const folder = fileURLToPath(new URL('catalogue', catalogFolder));
  return readDefinitions(filesOf(folder, '.yaml').map((file) => join(folder, file)));
}
