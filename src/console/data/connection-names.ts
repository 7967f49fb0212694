import { useEffect, useState } from 'preact/hooks';
import type { Client, EndUser } from '#client/index.ts';
import { useAccess } from '../session/context.tsx';

/** What a connection is called: after its end user, where one is known. */
export function nameOfConnection(id: string, user: EndUser | null | undefined): string {
  return user?.display_name ?? user?.email ?? user?.id ?? id;
}

/** As many as one request may name. */
const batchMax = 100;
/** Another visit reads a name once more after this time. */
const keptMs = 60_000;

interface KeptName {
  readonly name: string;
  readonly readAt: number;
}

/** Names of the connections of an environment: those that a page asks for at once are read by one request. */
class ConnectionNames {
  readonly #client: Client;
  readonly #names = new Map<string, KeptName>();
  readonly #wanted = new Set<string>();
  readonly #listeners = new Set<() => void>();

  constructor(client: Client) {
    this.#client = client;
  }

  /** The id until the name is known. */
  nameOf(integration: string, id: string): string {
    return this.#names.get(keyOf(integration, id))?.name ?? id;
  }

  /** Reads the name unless it was read a moment ago. */
  want(integration: string, id: string): void {
    const kept = this.#names.get(keyOf(integration, id));
    if (kept !== undefined && performance.now() - kept.readAt < keptMs) return;
    if (this.#wanted.size === 0) setTimeout(() => void this.#read());
    this.#wanted.add(id);
  }

  forget(integration: string, id: string): void {
    this.#names.delete(keyOf(integration, id));
  }

  /** @returns a function that ends the calls */
  listen(onNames: () => void): () => void {
    this.#listeners.add(onNames);
    return () => this.#listeners.delete(onNames);
  }

  async #read(): Promise<void> {
    const ids = [...this.#wanted];
    this.#wanted.clear();
    for (let from = 0; from < ids.length; from += batchMax) {
      const query = {
        connectionIds: ids.slice(from, from + batchMax),
        credentials: 'none',
      } as const;
      try {
        const { connections } = await this.#client.request('GET /connections', { query });
        const readAt = performance.now();
        for (const {
          provider_config_key: integration,
          connection_id: id,
          end_user: user,
        } of connections)
          this.#names.set(keyOf(integration, id), { name: nameOfConnection(id, user), readAt });
      } catch {
        // Ids stay where names cannot be read; the page itself says what fails.
        return;
      }
    }
    for (const listener of this.#listeners) listener();
  }
}

const keyOf = (integration: string, id: string): string => JSON.stringify([integration, id]);

const namesByClient = new WeakMap<Client, ConnectionNames>();

function namesOf(client: Client): ConnectionNames {
  const existing = namesByClient.get(client);
  if (existing !== undefined) return existing;
  const made = new ConnectionNames(client);
  namesByClient.set(client, made);
  return made;
}

/** What a connection is called; its id until that is read, and where it is not known. */
export function useConnectionName(integration: string, id: string): string {
  const { client, can } = useAccess();
  const names = namesOf(client);
  const [name, setName] = useState(names.nameOf(integration, id));
  const canList = can('environment:connections:list');
  useEffect(() => {
    const update = (): void => setName(names.nameOf(integration, id));
    update();
    if (!canList) return undefined;
    names.want(integration, id);
    return names.listen(update);
  }, [names, integration, id, canList]);
  return name;
}

/** A function that has the name of a connection read once more. */
export function useForgetName(): (integration: string, id: string) => void {
  const { client } = useAccess();
  return (integration, id) => namesOf(client).forget(integration, id);
}
