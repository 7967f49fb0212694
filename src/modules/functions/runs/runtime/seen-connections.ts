import type { Clock } from '#kernel/time.ts';
import type { ConnectionName, RunConnection, RunConnections } from './deps.ts';

/** How long a run may see a connection as it was. */
const viewMs = 60_000;

interface View {
  /** JSON. */
  readonly text: string;
  readonly until: number;
}

/**
 * The connections that a run opens. What it reads of one is kept for a while, but never longer than its credentials: where
 * any of its calls finds newer ones, it reads again.
 */
export class SeenConnections {
  readonly #connections: RunConnections;
  readonly #clock: Clock;
  readonly #onOpened: (connection: RunConnection) => void;
  readonly #views = new Map<string, View>();
  /** By connection: the newest credentials that the run has seen. They only grow. */
  readonly #versions = new Map<string, number>();
  /** How often everything was forgotten. */
  #generation = 0;

  /** @param onOpened called with each connection before the run gets it */
  constructor(
    { connections, clock }: { readonly connections: RunConnections; readonly clock: Clock },
    onOpened: (connection: RunConnection) => void,
  ) {
    this.#connections = connections;
    this.#clock = clock;
    this.#onOpened = onOpened;
  }

  /** As it is now. */
  readonly open: RunConnections['open'] = async (name, options) => {
    const opened = await this.#connections.open(name, options);
    this.#onOpened(opened);
    const key = keyOf(name);
    const newest = this.#versions.get(key);
    if (newest === undefined || newest < opened.version) {
      this.#versions.set(key, opened.version);
      this.#views.delete(key);
    }
    return opened;
  };

  /** JSON of what the API answers of it, up to a minute old; with an option as it is now. */
  async view(
    name: ConnectionName,
    options: { readonly forceRefresh: boolean; readonly refreshToken: boolean },
  ): Promise<string> {
    const { forceRefresh, refreshToken } = options;
    const key = keyOf(name);
    const kept = this.#views.get(key);
    const isRequested = forceRefresh || refreshToken;
    if (!isRequested && kept !== undefined && kept.until > this.#clock.now()) return kept.text;
    const generation = this.#generation;
    const { view, version } = await this.open(name, options);
    const text = JSON.stringify(await view());
    const isCurrent = generation === this.#generation && version === this.#versions.get(key);
    if (isCurrent && !refreshToken) {
      this.#views.set(key, { text, until: this.#clock.now() + viewMs });
    }
    return text;
  }

  /** The next reader reads again. */
  forget(): void {
    this.#generation++;
    this.#views.clear();
  }
}

const keyOf = ({ integrationKey, connectionId }: ConnectionName): string =>
  JSON.stringify([integrationKey, connectionId]);
