import { randomUUID } from 'node:crypto';
import type { Client, Connection, Input, Integration, Provider } from '#client/index.ts';
import { isJsonObject, objectOf, type JsonObject } from '#kernel/stable-json.ts';
import { systemClock } from '#kernel/time.ts';
import { interpolateUrl, type TemplateValues } from '#rules/interpolate.ts';

export interface ConnectionName {
  readonly integrationKey: string;
  readonly connectionId: string;
}

interface Options {
  readonly forceRefresh: boolean;
  readonly refreshToken: boolean;
}

/** Connections, integrations and providers from the service's API; each is read once. */
export class DryConnections {
  readonly #client: Client;
  readonly #connections = new Map<string, Connection>();
  readonly #integrations = new Map<string, Integration>();
  readonly #providers = new Map<string, Provider>();

  constructor(client: Client) {
    this.#client = client;
  }

  /** @throws ApiError */
  async connection(name: ConnectionName, options?: Options): Promise<Connection> {
    const key = JSON.stringify([name.integrationKey, name.connectionId]);
    const isPlain = options?.forceRefresh !== true && options?.refreshToken !== true;
    const existing = this.#connections.get(key);
    if (existing !== undefined && isPlain) return existing;
    const connection = await this.#client.request('GET /connections/{connectionId}', {
      params: { connectionId: name.connectionId },
      query: {
        provider_config_key: name.integrationKey,
        force_refresh: options?.forceRefresh,
        refresh_token: options?.refreshToken,
      },
    });
    this.#connections.set(key, connection);
    return connection;
  }

  /** @throws ApiError */
  async integration(
    uniqueKey: string,
    query: Input<'GET /integrations/{uniqueKey}'>['query'],
  ): Promise<Integration> {
    const key = JSON.stringify([uniqueKey, query]);
    const existing = this.#integrations.get(key);
    if (existing !== undefined) return existing;
    const path = 'GET /integrations/{uniqueKey}';
    const { data } = await this.#client.request(path, { params: { uniqueKey }, query });
    this.#integrations.set(key, data);
    return data;
  }

  /** The provider's own settings of pagination; null when it has none. @throws ApiError */
  async pagination(provider: string): Promise<JsonObject | null> {
    const { paginate } = await this.#proxyOf(provider);
    return isJsonObject(paginate) ? paginate : null;
  }

  /** The provider's base URL with the connection's values; null when it has none. @throws ApiError */
  async baseUrl(connection: Connection): Promise<string | null> {
    const { base_url: template } = await this.#proxyOf(connection.provider);
    return typeof template === 'string' ? interpolateUrl(template, valuesOf(connection)) : null;
  }

  async #proxyOf(name: string): Promise<JsonObject> {
    const params = { provider: name };
    const provider =
      this.#providers.get(name) ??
      (await this.#client.request('GET /providers/{provider}', { params })).data;
    this.#providers.set(name, provider);
    return objectOf(provider['proxy']);
  }
}

/** The value of `${…}` in an endpoint; null when the connection does not have it. */
export const fillEndpoint = (endpoint: string, connection: Connection): string | null =>
  interpolateUrl(endpoint, valuesOf(connection));

const valuesOf = ({ connection_config, metadata, credentials }: Connection): TemplateValues => ({
  connectionConfig: objectOf(connection_config),
  metadata: objectOf(metadata),
  // Null in some auth modes.
  credentials: isJsonObject(credentials) ? credentials : null,
  now: systemClock.now(),
  random: randomUUID(),
});
