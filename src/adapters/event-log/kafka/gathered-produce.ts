import { logUnavailable } from './failure.ts';
import { requestTimeoutMs } from './broker-socket.ts';
import type { BrokerConnection } from './broker-connection.ts';
import { produceCall, type ProduceAnswer, type ProducedBatch } from './protocol.ts';

interface Waiting {
  readonly batch: ProducedBatch;
  readonly answer: PromiseWithResolvers<ProduceAnswer>;
}

/**
 * Batches for one broker in one turn of the event loop go in one request: a broker processes the requests of a
 * connection sequentially. At most one batch of a partition may be in flight.
 */
export class GatheredProduce {
  private readonly link: BrokerConnection;
  private readonly transactionalId: string;
  private readonly waiting = new Map<number, Waiting[]>();

  constructor(connection: BrokerConnection, transactionalId: string) {
    this.link = connection;
    this.transactionalId = transactionalId;
  }

  /** The leader's response for the batch, with any error code. @throws Error without a response */
  send(leader: number, batch: ProducedBatch): Promise<ProduceAnswer> {
    const answer = Promise.withResolvers<ProduceAnswer>();
    const waiting = this.waiting.get(leader);
    if (waiting !== undefined) waiting.push({ batch, answer });
    else {
      this.waiting.set(leader, [{ batch, answer }]);
      queueMicrotask(() => void this.flush(leader));
    }
    return answer.promise;
  }

  private async flush(leader: number): Promise<void> {
    const sent = this.waiting.get(leader) ?? [];
    this.waiting.delete(leader);
    const batches = sent.map(({ batch }) => batch);
    try {
      const call = produceCall(batches, this.transactionalId, requestTimeoutMs);
      const answers = await this.link.send(leader, call);
      const byName = new Map(answers.map((one) => [nameOf(one), one]));
      for (const { batch, answer } of sent) {
        const one = byName.get(nameOf(batch));
        if (one === undefined)
          answer.reject(logUnavailable(new Error('a partition is unanswered')));
        else answer.resolve(one);
      }
    } catch (error) {
      for (const { answer } of sent) answer.reject(error);
    }
  }
}

const nameOf = ({ topic, partition }: { readonly topic: string; readonly partition: number }) =>
  `${topic}/${partition}`;
