import type { BrokerConnection } from './broker-connection.ts';
import { retried } from './retry.ts';

/** The identity of a producer for the brokers; with a sequence per partition it makes retries idempotent. */
export interface ProducerIdentity {
  readonly producerId: string;
  readonly producerEpoch: number;
}

const timeoutMs = 30_000;

/** The identity of batches without a transaction, until the outcome of one is lost. */
export class Identities {
  readonly #connection: BrokerConnection;
  #present: Promise<ProducerIdentity> | null = null;

  constructor(connection: BrokerConnection) {
    this.#connection = connection;
  }

  current(): Promise<ProducerIdentity> {
    this.#present ??= retried(() => this.#request(), { timeoutMs }).catch((error: unknown) => {
      this.#present = null;
      throw error;
    });
    return this.#present;
  }

  /** The next call of `current` returns another one. */
  renew(): void {
    this.#present = null;
  }

  async #request(): Promise<ProducerIdentity> {
    const broker = await this.#connection.any();
    const { producerId, producerEpoch } = await broker.initProducerId({ transactionTimeout: 0 });
    return { producerId, producerEpoch };
  }
}
