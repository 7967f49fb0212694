import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { selfSigned } from '#test/support/fakes/certificate.ts';
import { run } from './commands.ts';
import { installKafka } from './kafka.ts';
import { freePort } from './ports.ts';
import { startService, type Service, type ServiceSpec } from './service.ts';

/** Three brokers that authenticate (TLS, SCRAM) and authorize every client. */
export interface KafkaCluster extends AsyncDisposable {
  /** `host:port` of each. */
  readonly brokers: readonly string[];
  readonly nodes: readonly Service[];
  /** PEM, self-signed. */
  readonly certificate: string;
  /** For SVC_LOG_URL. */
  urlOf(user: string): string;
  readonly passwordOf: (user: string) => string;
}

interface Ports {
  readonly clients: number;
  readonly brokers: number;
  readonly controller: number;
}

const clusterId = 'c3ZjLXRlc3QtY2x1c3Rlcw';
const nodeCount = 3;
const jvm = ['-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xlog:disable'];

/** @param users who exist besides `admin`, who may do everything @throws ServiceUnavailable */
export async function startKafkaCluster(users: readonly string[]): Promise<KafkaCluster> {
  await using stack = new AsyncDisposableStack();
  const { libraries, classes } = await installKafka();
  const folder = await mkdtemp(join(tmpdir(), 'svc-cluster-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const { certificate, privateKey } = selfSigned('kafka');
  const keyStore = join(folder, 'broker.pem');
  await writeFile(keyStore, privateKey + certificate);
  const passwordOf = (user: string): string => `${user}-secret`;
  const ports: Ports[] = [];
  for (let node = 0; node < nodeCount; node += 1) {
    ports.push({
      clients: await freePort(),
      brokers: await freePort(),
      controller: await freePort(),
    });
  }
  const scram = ['admin', ...users].flatMap((name) => [
    '--add-scram',
    `SCRAM-SHA-512=[name=${name},password=${passwordOf(name)}]`,
  ]);
  const specOf = (node: number): ServiceSpec => ({
    name: `Kafka ${node}`,
    url: `kafka+ssl://127.0.0.1:${ports[node]!.clients}`,
    command: 'java',
    args: (own) => [
      ...[...jvm, `-XX:SharedArchiveFile=${classes}`, '-cp', `${libraries}/*`],
      ...['kafka.Kafka', join(own, 'server.properties')],
    ],
    async prepare(own) {
      const file = join(own, 'server.properties');
      await writeFile(file, propertiesOf(node, { ports, keyStore, data: join(own, 'data') }));
      const format = ['kafka.tools.StorageTool', 'format', '-t', clusterId, '-c', file, ...scram];
      await run('java', ['-Xmx128m', '-cp', `${libraries}/*`, ...format]);
    },
    isReady: (output) => output.includes('Kafka Server started'),
  });
  const starting = ports.map(async (_, node) => startService(specOf(node)));
  for (const one of starting) stack.defer(() => one.then((node) => node.stop()));
  const nodes = await Promise.all(starting);
  const brokers = ports.map(({ clients }) => `127.0.0.1:${clients}`);
  const opened = stack.move();
  return {
    brokers,
    nodes,
    certificate,
    urlOf: (user) => `kafka+ssl://${user}:${passwordOf(user)}@${brokers.join(',')}`,
    passwordOf,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** Clients come by TLS with a password; brokers and controllers meet on loopback without one, as super users. */
function propertiesOf(
  node: number,
  places: { readonly ports: readonly Ports[]; readonly keyStore: string; readonly data: string },
): string {
  const { ports, keyStore, data } = places;
  const { clients, brokers, controller } = ports[node]!;
  const voters = ports.map((one, at) => `${at + 1}@127.0.0.1:${one.controller}`).join(',');
  const settings = {
    'process.roles': 'broker,controller',
    'node.id': node + 1,
    'controller.quorum.voters': voters,
    listeners: `BROKERS://127.0.0.1:${brokers},CLIENTS://127.0.0.1:${clients},CONTROLLER://127.0.0.1:${controller}`,
    'advertised.listeners': `BROKERS://127.0.0.1:${brokers},CLIENTS://127.0.0.1:${clients}`,
    'listener.security.protocol.map': 'BROKERS:PLAINTEXT,CONTROLLER:PLAINTEXT,CLIENTS:SASL_SSL',
    'inter.broker.listener.name': 'BROKERS',
    'controller.listener.names': 'CONTROLLER',
    'listener.name.clients.sasl.enabled.mechanisms': 'SCRAM-SHA-512',
    'listener.name.clients.scram-sha-512.sasl.jaas.config':
      'org.apache.kafka.common.security.scram.ScramLoginModule required;',
    'listener.name.clients.ssl.keystore.type': 'PEM',
    'listener.name.clients.ssl.keystore.location': keyStore,
    'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    'super.users': 'User:ANONYMOUS;User:admin',
    'log.dirs': data,
    'auto.create.topics.enable': false,
    // A test moves the clock of its gateway.
    'log.message.timestamp.after.max.ms': String(2n ** 63n - 1n),
    'message.max.bytes': 16_777_216,
    'replica.fetch.max.bytes': 16_777_216,
    'offsets.topic.replication.factor': nodeCount,
    'offsets.topic.num.partitions': 4,
    'transaction.state.log.replication.factor': nodeCount,
    'transaction.state.log.min.isr': 2,
    'transaction.state.log.num.partitions': 4,
    'group.initial.rebalance.delay.ms': 0,
    'log.cleaner.threads': 1,
    'log.cleaner.dedupe.buffer.size': 4_194_304,
    'num.network.threads': 2,
    'num.io.threads': 4,
  };
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}
