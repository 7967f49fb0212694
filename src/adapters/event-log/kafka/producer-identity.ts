import type { BrokerConnection } from './broker-connection.ts';
import { retried } from './retry.ts';

/** What the brokers know a producer by; with a sequence per partition it makes sending twice harmless. */
export interface ProducerIdentity {
  readonly producerId: string;
  readonly producerEpoch: number;
}

const timeoutMs = 30_000;

/** The identity that batches without a transaction are sent under, until one of them is lost. */
export class Identities {
  private readonly link: BrokerConnection;
  private present: Promise<ProducerIdentity> | null = null;

  constructor(connection: BrokerConnection) {
    this.link = connection;
  }

  current(): Promise<ProducerIdentity> {
    this.present ??= retried(() => this.request(), { timeoutMs }).catch((error: unknown) => {
      this.present = null;
      throw error;
    });
    return this.present;
  }

  /** The next call of `current` gets another one. */
  renew(): void {
    this.present = null;
  }

  private async request(): Promise<ProducerIdentity> {
    const broker = await this.link.any();
    const { producerId, producerEpoch } = await broker.initProducerId({ transactionTimeout: 0 });
    return { producerId, producerEpoch };
  }
}
