import type { ConnectionOptions } from 'node:tls';
import type { SASLOptions } from 'kafkajs';
import Broker, { type ProtocolCall } from 'kafkajs/src/broker/index.js';
import { BrokerSocket, silentLogger } from './broker-socket.ts';
import { codeOf, logClosed } from './failure.ts';
import { metadataCall, type BrokerAddress, type Metadata } from './protocol.ts';
import type { Reachability } from './reachability.ts';

export interface BrokerConnectionOptions {
  /** `host:port` of some brokers; the others are discovered. */
  readonly brokers: readonly string[];
  readonly clientId: string;
  readonly ssl?: ConnectionOptions | boolean;
  readonly sasl?: SASLOptions;
  readonly reachability?: Reachability;
}

export const coordinatorKind = { group: 0, transaction: 1 } as const;
export type CoordinatorKind = (typeof coordinatorKind)[keyof typeof coordinatorKind];

/** Addresses of the cluster's brokers, as last learned by any connection. */
export class Addresses {
  readonly known = new Map<number, BrokerAddress>();

  learn(brokers: readonly BrokerAddress[]): void {
    if (brokers.length === 0) return;
    const present = new Set(brokers.map(({ nodeId }) => nodeId));
    for (const id of this.known.keys()) if (!present.has(id)) this.known.delete(id);
    for (const broker of brokers) this.known.set(broker.nodeId, broker);
  }
}

interface Node {
  readonly address: string;
  readonly socket: BrokerSocket;
  /** Resolves when connected and authenticated. */
  readonly broker: Promise<Broker>;
}

/**
 * Connections to the brokers for one purpose. A broker processes one request of a connection at a time, so that
 * requests that may wait there (a fetch, joining a group, a transaction) have connections of their own.
 */
export class BrokerConnection implements Disposable {
  readonly #options: BrokerConnectionOptions;
  readonly #addresses: Addresses;
  readonly #nodes = new Map<number | string, Node>();
  readonly #coordinators = new Map<string, number>();
  #isClosed = false;

  constructor(options: BrokerConnectionOptions, addresses: Addresses) {
    this.#options = options;
    this.#addresses = addresses;
  }

  /** The broker with the id, connected. */
  async node(id: number): Promise<Broker> {
    const address = this.#addresses.known.get(id);
    if (address === undefined) {
      await this.metadata([]);
      if (!this.#addresses.known.has(id)) return this.any();
      return this.node(id);
    }
    return this.#connected(id, address.host, address.port);
  }

  async send<T>(nodeId: number, call: ProtocolCall<T>): Promise<T> {
    const { connectionPool } = await this.node(nodeId);
    return connectionPool.send(call);
  }

  /** Any broker that responds. */
  async any(): Promise<Broker> {
    return this.#first((broker) => Promise.resolve(broker));
  }

  metadata(topics: readonly string[]): Promise<Metadata> {
    return this.#first(async ({ connectionPool }) => {
      const metadata = await connectionPool.send(metadataCall(topics));
      this.#addresses.learn(metadata.brokers);
      return metadata;
    });
  }

  /** Runs against the coordinator of a group or transactional id; looks the coordinator up again after an error. */
  async atCoordinator<T>(
    kind: CoordinatorKind,
    key: string,
    run: (broker: Broker) => Promise<T>,
  ): Promise<T> {
    const name = `${kind} ${key}`;
    try {
      return await run(await this.#coordinator(kind, key, name));
    } catch (error) {
      this.#coordinators.delete(name);
      throw error;
    }
  }

  /** Aborts pending requests. */
  [Symbol.dispose](): void {
    this.#isClosed = true;
    for (const { socket } of this.#nodes.values()) socket.end(logClosed());
    this.#nodes.clear();
  }

  async #coordinator(kind: CoordinatorKind, key: string, name: string): Promise<Broker> {
    const existing = this.#coordinators.get(name);
    if (existing !== undefined) return this.node(existing);
    const { coordinator } = await this.#first((broker) =>
      broker.findGroupCoordinator({ groupId: key, coordinatorType: kind }),
    );
    this.#coordinators.set(name, coordinator.nodeId);
    return this.node(coordinator.nodeId);
  }

  /** The first broker that succeeds: connected ones, then known ones, then the configured ones. */
  async #first<T>(run: (broker: Broker) => Promise<T>): Promise<T> {
    const existing = [...this.#addresses.known.values()].map(({ nodeId, host, port }) => ({
      id: nodeId,
      host,
      port,
    }));
    const seeds = this.#options.brokers.map((address) => ({
      id: address,
      ...hostAndPort(address),
    }));
    const isOpen = (id: number | string): boolean =>
      this.#nodes.get(id)?.socket.isConnected() === true;
    const candidates = [...existing, ...seeds].sort(
      (a, b) => Number(isOpen(b.id)) - Number(isOpen(a.id)),
    );
    let failure: unknown = logClosed();
    for (const { id, host, port } of candidates) {
      if (this.#isClosed) throw logClosed();
      try {
        const answer = await run(await this.#connected(id, host, port));
        this.#options.reachability?.answered();
        return answer;
      } catch (error) {
        if (codeOf(error) !== null) throw error;
        failure = error;
      }
    }
    this.#options.reachability?.lost(failure);
    throw failure;
  }

  /** The broker on its current socket, or on a new one if that has ended. */
  #connected(id: number | string, host: string, port: number): Promise<Broker> {
    if (this.#isClosed) return Promise.reject(logClosed());
    const address = `${host}:${port}`;
    const present = this.#nodes.get(id);
    if (present?.address === address && !present.socket.hasEnded) return present.broker;
    present?.socket.end(logClosed());
    const { clientId, ssl, sasl } = this.#options;
    const tls = typeof ssl === 'object' ? ssl : ssl === true ? {} : undefined;
    const socket = new BrokerSocket({ host, port, clientId, tls, sasl });
    const broker = connect(socket);
    this.#nodes.set(id, { address, socket, broker });
    return broker;
  }
}

function hostAndPort(address: string): { host: string; port: number } {
  const at = address.lastIndexOf(':');
  return { host: address.slice(0, at), port: Number(address.slice(at + 1)) };
}

async function connect(socket: BrokerSocket): Promise<Broker> {
  const options = { connectionPool: socket, logger: silentLogger, allowAutoTopicCreation: false };
  const broker = new Broker(options);
  try {
    await broker.connect();
    return broker;
  } catch (error) {
    socket.end(error as Error);
    throw error;
  }
}
