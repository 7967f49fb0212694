import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** Keys of Kafka's protocol (kafka.apache.org/protocol, "Api Keys"). */
export const kafkaApis = {
  Produce: 0,
  Fetch: 1,
  ListOffsets: 2,
  Metadata: 3,
  OffsetCommit: 8,
  OffsetFetch: 9,
  FindCoordinator: 10,
  JoinGroup: 11,
  Heartbeat: 12,
  LeaveGroup: 13,
  SyncGroup: 14,
  SaslHandshake: 17,
  ApiVersions: 18,
  CreateTopics: 19,
  DeleteRecords: 21,
  InitProducerId: 22,
  AddPartitionsToTxn: 24,
  AddOffsetsToTxn: 25,
  EndTxn: 26,
  TxnOffsetCommit: 28,
  DescribeConfigs: 32,
  SaslAuthenticate: 36,
} as const;
export type KafkaApi = keyof typeof kafkaApis;

interface Change {
  readonly key: number;
  readonly make: (answer: Buffer) => { readonly bytes: Buffer; readonly isLast: boolean };
  readonly done: PromiseWithResolvers<number>;
}

/** Stands before a broker. Ends connections in the middle of an answer, as a killed broker does, or alters answers. */
export class CuttingProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #brokerPort: number;
  readonly #sockets = new Set<Socket>();
  #change: Change | null = null;
  readonly #answered = new Map<number, PromiseWithResolvers<undefined>>();

  private constructor(server: Server, brokerPort: number) {
    this.#server = server;
    this.#brokerPort = brokerPort;
    server.on('connection', (client) => this.#accept(client));
  }

  static async listen(port: number, brokerPort: number): Promise<CuttingProxy> {
    const server = createServer();
    const proxy = new CuttingProxy(server, brokerPort);
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  /** Ends the connection after so many bytes of the next answer; resolves with that answer's length. */
  cut(api: KafkaApi, bytes: number): Promise<number> {
    return this.#alter(api, (answer) => ({
      bytes: answer.subarray(0, bytes),
      isLast: bytes < answer.length,
    }));
  }

  /** Sends other bytes instead of the next answer, which is given with its length; the connection stays open. */
  async replace(api: KafkaApi, make: (answer: Buffer) => Buffer): Promise<void> {
    await this.#alter(api, (answer) => ({ bytes: make(answer), isLast: false }));
  }

  /** Resolves with the next answer after which the connection stays open. */
  nextAnswer(api: KafkaApi): Promise<undefined> {
    const next = this.#answered.get(kafkaApis[api]) ?? Promise.withResolvers<undefined>();
    this.#answered.set(kafkaApis[api], next);
    return next.promise;
  }

  endConnections(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.endConnections();
    await closed;
  }

  #alter(api: KafkaApi, make: Change['make']): Promise<number> {
    const done = Promise.withResolvers<number>();
    this.#change = { key: kafkaApis[api], make, done };
    return done.promise;
  }

  #accept(client: Socket): void {
    const broker = connect(this.#brokerPort, '127.0.0.1');
    for (const [one, other] of [
      [client, broker],
      [broker, client],
    ] as const) {
      this.#sockets.add(one);
      one.on('error', () => undefined); // seen as its end
      one.on('close', () => {
        this.#sockets.delete(one);
        other.end();
      });
    }
    const asked = new Map<number, number>();
    onFrames(client, (frame) => {
      asked.set(frame.readInt32BE(8), frame.readInt16BE(4));
      broker.write(frame);
    });
    onFrames(broker, (frame) => {
      const key = asked.get(frame.readInt32BE(4));
      const change = this.#change;
      if (change === null || change.key !== key) {
        client.write(frame);
        if (key !== undefined) this.#passed(key);
        return;
      }
      this.#change = null;
      const { bytes, isLast } = change.make(frame);
      client.write(bytes);
      if (isLast) {
        client.end();
        broker.destroy();
      } else this.#passed(change.key);
      change.done.resolve(frame.length);
    });
  }

  #passed(key: number): void {
    this.#answered.get(key)?.resolve(undefined);
    this.#answered.delete(key);
  }
}

/** Whole requests or answers of Kafka's protocol, with their length. */
function onFrames(socket: Socket, listener: (frame: Buffer) => void): void {
  let bytes = Buffer.alloc(0);
  socket.on('data', (chunk) => {
    bytes = Buffer.concat([bytes, chunk]);
    while (bytes.length >= 4 && bytes.length >= 4 + bytes.readInt32BE(0)) {
      const end = 4 + bytes.readInt32BE(0);
      const frame = bytes.subarray(0, end);
      bytes = bytes.subarray(end);
      listener(frame);
    }
  });
}
