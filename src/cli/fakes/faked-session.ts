import type { Client } from '#client/index.ts';
import { isObjectFixture } from '#fake-providers/objects/fixture.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import { HotDeployment } from '../deploy/hot-deployment.ts';
import { startFakedGateway, type FakedGateway } from './gateway-process.ts';
import {
  connectionOf,
  fixturesState,
  integrationOf,
  openProjectFakes,
  type IntegrationFake,
  type ProjectFakes,
} from './project-fakes.ts';

/** The connection of each integration. */
export const fakedConnection = 'me';

/** A provider of the gateway itself needs no fixtures. */
const demoProvider = 'demo-key';
const demoCredentials = { type: 'API_KEY', apiKey: 'demo' };

interface SessionOptions {
  readonly root: string;
  readonly version: string;
  /** Of the session before, which other programs know. */
  readonly before: Pick<FakedSession, 'url' | 'key'> | null;
}

/** Fakes as the fixtures are now, a gateway that knows them, and what is deployed and connected there. */
export class FakedSession implements AsyncDisposable {
  readonly deployment: HotDeployment;
  /** Of the fixtures that are played. */
  readonly fixtures: string;
  readonly #fakes: ProjectFakes;
  readonly #gateway: FakedGateway;
  readonly #integrations = new Set<string>();
  readonly #connected = new Set<string>();

  private constructor(fakes: ProjectFakes, gateway: FakedGateway, fixtures: string) {
    this.#fakes = fakes;
    this.#gateway = gateway;
    this.fixtures = fixtures;
    this.deployment = new HotDeployment(gateway.client);
  }

  static async open({ root, version, before }: SessionOptions): Promise<FakedSession> {
    const fixtures = fixturesState(root);
    const fakes = await openProjectFakes(root);
    for (const key of fakes.integrationKeys) {
      const fake = fakes.find(key);
      if (fake !== null) fake.api.answersFromCases = true;
    }
    try {
      const gateway = await startFakedGateway({
        definitions: fakes.definitions(),
        hostPort: fakes.hostPort,
        version,
        ...(before === null ? {} : { key: before.key, port: Number(new URL(before.url).port) }),
      });
      return new FakedSession(fakes, gateway, fixtures);
    } catch (error) {
      await fakes[Symbol.asyncDispose]();
      throw error;
    }
  }

  get url(): string {
    return this.#gateway.url;
  }

  get key(): string {
    return this.#gateway.key;
  }

  get client(): Client {
    return this.#gateway.client;
  }

  /** Null: the integration has no fixtures, or they cannot be played. */
  fakeOf(integrationKey: string): IntegrationFake | null {
    return this.#fakes.find(integrationKey);
  }

  /** Why functions of the integration cannot run here; null: they can. */
  problemOf(integrationKey: string): string | null {
    if (this.#fakes.providerOf(integrationKey) === demoProvider) return null;
    try {
      this.#fakes.of(integrationKey);
      return null;
    } catch (error) {
      return (error as Error).message;
    }
  }

  isConnected(integrationKey: string): boolean {
    return this.#connected.has(integrationKey);
  }

  /** Creates the integration with the credentials that its fake takes. */
  async createIntegration(integrationKey: string): Promise<void> {
    const fake = this.fakeOf(integrationKey);
    if (fake === null || this.#integrations.has(integrationKey)) return;
    await this.client.request('POST /integrations', { body: integrationOf(fake) });
    this.#integrations.add(integrationKey);
  }

  /** Connects the account, which starts the syncs that are deployed. @throws ApiError */
  async connect(integrationKey: string): Promise<void> {
    const fake = this.fakeOf(integrationKey);
    const body =
      fake === null
        ? {
            provider_config_key: integrationKey,
            connection_id: fakedConnection,
            credentials: demoCredentials,
          }
        : connectionOf(fake, fakedConnection, metadataOf(fake));
    await this.client.request('POST /connections', { body });
    this.#connected.add(integrationKey);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#gateway[Symbol.asyncDispose]();
    await this.#fakes[Symbol.asyncDispose]();
  }
}

/** What all functions of the integration need. */
const metadataOf = ({ fixtures }: IntegrationFake): JsonObject =>
  Object.assign(
    {},
    ...[...fixtures.values()].map((fixture) =>
      isObjectFixture(fixture) ? fixture.metadata : fixture.cases[0]?.metadata,
    ),
  ) as JsonObject;
