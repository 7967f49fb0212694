import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseFixture, type Fixture } from '#fake-providers/objects/fixture.ts';
import { ObjectApi } from '#fake-providers/objects/object-api.ts';
import type { PlayedProvider } from '#fake-providers/play.ts';
import { readDefinitions } from '#fake-providers/read-definitions.ts';
import { openFakeAuth } from '#fake-providers/server.ts';
import { objectOf } from '#kernel/stable-json.ts';
import { readManifest } from '../dependencies.ts';

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

export interface ProjectFakes extends AsyncDisposable {
  /** For `SVC_EGRESS_ALLOW`. */
  readonly hostPort: string;
  readonly integrationKeys: readonly string[];
  /** For a file of `SVC_PROVIDERS`. */
  definitions(): Readonly<Record<string, object>>;
  /** @throws Error why the fake cannot be played */
  of(integrationKey: string): IntegrationFake;
}

/** Folder of an integration with its fixtures (templates/README.md). */
const fixturesFolder = 'fixtures';

/** Opens a fake of each integration of the project that has fixtures. */
export async function openProjectFakes(root: string): Promise<ProjectFakes> {
  const fake = await openFakeAuth();
  const catalog = readCatalog();
  const providers = objectOf(objectOf(readManifest(root)['svc'])['integrations']);
  const fakes = new Map<string, IntegrationFake | Error>();
  for (const integrationKey of integrationsWithFixtures(root)) {
    const name = providers[integrationKey];
    const provider = catalog.get(typeof name === 'string' ? name : integrationKey);
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
    of(integrationKey) {
      const found = fakes.get(integrationKey) ?? new Error(`${integrationKey} has no fixtures`);
      if (found instanceof Error) throw found;
      return found;
    },
    [Symbol.asyncDispose]: () => fake[Symbol.asyncDispose](),
  };
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
