import { logUnavailable } from './failure.ts';
import { requestTimeoutMs } from './broker-socket.ts';
import type { BrokerConnection } from './broker-connection.ts';
import { produceCall, type ProduceAnswer, type ProducedBatch } from './protocol.ts';

interface Waiting {
  readonly batch: ProducedBatch;
  readonly answer: PromiseWithResolvers<ProduceAnswer>;
}

/**
 * What is produced in one turn for one broker goes in one request: a broker works on the requests of a connection one
 * after the other. At most one batch of a partition may be on its way.
 */
export class GatheredProduce {
  private readonly link: BrokerConnection;
  private readonly transactionalId: string;
  private readonly waiting = new Map<number, Waiting[]>();

  constructor(connection: BrokerConnection, transactionalId: string) {
    this.link = connection;
    this.transactionalId = transactionalId;
  }

  /** What the leader said of the batch; its error code may be any. @throws Error no answer came */
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
