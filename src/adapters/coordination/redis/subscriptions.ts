import type { Logger } from 'pino';
import type { Connection } from './connection.ts';

type Listener = (message: string) => void;

interface Channel {
  readonly listeners: Set<Listener>;
  readonly subscribed: Promise<void>;
}

/** The channels of this node, over a connection of their own; resubscribed after a reconnect. */
export class Subscriptions {
  readonly #connection: Connection;
  readonly #logger: Logger | undefined;
  readonly #channels = new Map<string, Channel>();

  constructor(connection: Connection, logger: Logger | undefined) {
    this.#connection = connection;
    this.#logger = logger;
    const { client } = connection;
    client.on('message', (name: string, message: string) => this.#heard(name, message));
    client.on('ready', () => void this.#again());
  }

  /** Resolves even while the server is away: the listener then receives messages once it is back. */
  async add(name: string, listener: Listener): Promise<AsyncDisposable> {
    const channel = this.#channels.get(name) ?? this.#open(name);
    channel.listeners.add(listener);
    await channel.subscribed;
    return { [Symbol.asyncDispose]: () => this.#leave(name, channel, listener) };
  }

  /** Anyone may publish on the server: a message that a listener rejects must not end the process. */
  #heard(name: string, message: string): void {
    for (const listener of this.#channels.get(name)?.listeners ?? []) {
      try {
        listener(message);
      } catch (error) {
        this.#logger?.warn({ err: error, channel: name }, 'message of a channel not processed');
      }
    }
  }

  #open(name: string): Channel {
    const subscribed = this.#subscribe([name]);
    const channel = { listeners: new Set<Listener>(), subscribed };
    this.#channels.set(name, channel);
    return channel;
  }

  /** Whether the channel has no listeners left. */
  #remove(name: string, channel: Channel, listener: Listener): boolean {
    channel.listeners.delete(listener);
    if (channel.listeners.size > 0 || this.#channels.get(name) !== channel) return false;
    return this.#channels.delete(name);
  }

  async #leave(name: string, channel: Channel, listener: Listener): Promise<void> {
    if (!this.#remove(name, channel, listener)) return;
    try {
      await this.#connection.execute((client) => client.unsubscribe(name));
    } catch (error) {
      // Without a connection there is no subscription either.
      this.#logger?.debug({ err: error }, 'channel not unsubscribed');
    }
  }

  async #again(): Promise<void> {
    const names = [...this.#channels.keys()];
    if (names.length > 0) await this.#subscribe(names);
  }

  /** Failed subscriptions are repeated after a reconnect. Never rejects. */
  async #subscribe(names: readonly string[]): Promise<void> {
    const { client } = this.#connection;
    try {
      await this.#connection.execute(() => client.subscribe(...names));
    } catch (error) {
      this.#logger?.warn({ err: error }, 'channels not subscribed yet');
      if (client.status === 'ready') client.disconnect(true);
    }
  }
}
