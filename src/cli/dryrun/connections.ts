import { randomUUID } from 'node:crypto';
import { isJsonObject, objectOf, type Json, type JsonObject } from '../../kernel/stable-json.ts';
import { systemClock } from '../../kernel/time.ts';
import {
  interpolateUrl,
  type TemplateValues,
} from '../../modules/connections/providers/interpolate.ts';
import type { ApiClient } from '../client.ts';

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
  readonly #client: ApiClient;
  readonly #connections = new Map<string, JsonObject>();
  readonly #answers = new Map<string, JsonObject>();

  constructor(client: ApiClient) {
    this.#client = client;
  }

  /** @throws ApiError */
  async connection(name: ConnectionName, options?: Options): Promise<JsonObject> {
    const key = JSON.stringify([name.integrationKey, name.connectionId]);
    const isPlain = options?.forceRefresh !== true && options?.refreshToken !== true;
    const existing = this.#connections.get(key);
    if (existing !== undefined && isPlain) return existing;
    const query = new URLSearchParams({ provider_config_key: name.integrationKey });
    if (options?.forceRefresh === true) query.set('force_refresh', 'true');
    if (options?.refreshToken === true) query.set('refresh_token', 'true');
    const path = `/connections/${encodeURIComponent(name.connectionId)}?${query.toString()}`;
    const connection = objectOf(await this.#client.call('GET', path));
    this.#connections.set(key, connection);
    return connection;
  }

  /** @throws ApiError */
  async integration(key: string, include: readonly string[]): Promise<JsonObject> {
    const query = include.map((part) => `include=${encodeURIComponent(part)}`).join('&');
    const path = `/integrations/${encodeURIComponent(key)}${query === '' ? '' : `?${query}`}`;
    return this.#data(path);
  }

  /** The provider's own settings of pagination; null when it has none. @throws ApiError */
  async pagination(provider: string): Promise<JsonObject | null> {
    const { paginate } = await this.#proxyOf(provider);
    return isJsonObject(paginate) ? paginate : null;
  }

  /** The provider's base URL with the connection's values; null when it has none. @throws ApiError */
  async baseUrl(connection: JsonObject): Promise<string | null> {
    const { base_url: template } = await this.#proxyOf(textOf(connection['provider']));
    return typeof template === 'string' ? interpolateUrl(template, valuesOf(connection)) : null;
  }

  async #proxyOf(provider: string): Promise<JsonObject> {
    const { proxy } = await this.#data(`/providers/${encodeURIComponent(provider)}`);
    return objectOf(proxy);
  }

  async #data(path: string): Promise<JsonObject> {
    const existing = this.#answers.get(path);
    if (existing !== undefined) return existing;
    const data = objectOf(objectOf(await this.#client.call('GET', path))['data']);
    this.#answers.set(path, data);
    return data;
  }
}

/** The value of `${…}` in an endpoint; null when the connection does not have it. */
export const fillEndpoint = (endpoint: string, connection: JsonObject): string | null =>
  interpolateUrl(endpoint, valuesOf(connection));

function valuesOf(connection: JsonObject): TemplateValues {
  const { credentials } = connection;
  return {
    connectionConfig: objectOf(connection['connection_config']),
    metadata: objectOf(connection['metadata']),
    credentials: isJsonObject(credentials) ? credentials : null,
    now: systemClock.now(),
    random: randomUUID(),
  };
}

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
