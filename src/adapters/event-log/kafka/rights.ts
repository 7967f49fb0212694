import kafkajs, { type AclEntry } from 'kafkajs';
import { Names } from './names.ts';
import type { KafkaLogOptions } from './open.ts';

const { AclResourceTypes, AclOperationTypes, AclPermissionTypes, ResourcePatternTypes } = kafkajs;

const resourceTypes = {
  topic: AclResourceTypes.TOPIC,
  group: AclResourceTypes.GROUP,
  'transactional-id': AclResourceTypes.TRANSACTIONAL_ID,
} as const;

const operationTypes = {
  Create: AclOperationTypes.CREATE,
  Describe: AclOperationTypes.DESCRIBE,
  DescribeConfigs: AclOperationTypes.DESCRIBE_CONFIGS,
  AlterConfigs: AclOperationTypes.ALTER_CONFIGS,
  Read: AclOperationTypes.READ,
  Write: AclOperationTypes.WRITE,
  Delete: AclOperationTypes.DELETE,
} as const;

/** What a principal may do with the resources of a name, or of names that begin with it. */
export interface Right {
  readonly resource: keyof typeof resourceTypes;
  readonly name: string;
  readonly isPrefix: boolean;
  readonly operations: readonly (keyof typeof operationTypes)[];
}

/**
 * All that the service does at the brokers: it creates and checks its topics, reads and writes them, keeps positions of
 * its groups in transactions, and deletes groups without positions that have ended. Cluster-wide it needs nothing.
 */
export function serviceRights(prefix: string): readonly Right[] {
  const names = new Names(prefix);
  const own = (
    resource: Right['resource'],
    stem: string,
    operations: Right['operations'],
  ): Right => ({
    resource,
    name: names.inKafka(stem),
    isPrefix: true,
    operations,
  });
  return [
    own('topic', 'svc.', [
      'Create',
      'Describe',
      'DescribeConfigs',
      'AlterConfigs',
      'Read',
      'Write',
    ]),
    own('topic', 'svc.internal.', ['Delete']),
    own('group', '', ['Describe', 'Read']),
    own('group', 'svc.', ['Describe', 'Read', 'Delete']),
    own('transactional-id', '', ['Describe', 'Write']),
    own('transactional-id', 'svc.', ['Describe', 'Write']),
  ];
}

/** A topic of the service, or all whose names begin with it. */
export interface ReadTopic {
  /** As at the port: `svc.records.v1`. */
  readonly name: string;
  readonly isPrefix: boolean;
}

/** All that a reader of topics needs. @param group first part of the names of its consumer groups, as in Kafka */
export function readerRights(
  topics: readonly ReadTopic[],
  { group, prefix }: { readonly group: string; readonly prefix: string },
): readonly Right[] {
  const names = new Names(prefix);
  return [
    ...topics.map(({ name, isPrefix }): Right => ({
      resource: 'topic',
      name: names.inKafka(name),
      isPrefix,
      operations: ['Describe', 'Read'],
    })),
    { resource: 'group', name: group, isPrefix: true, operations: ['Read'] },
  ];
}

/**
 * Adds the rights at the brokers; those that exist stay as they are.
 * @param principal such as `User:reports`
 * @throws Error of kafkajs: no broker answers, or the user may not alter the cluster
 */
export async function grantRights(
  { brokers, ssl, sasl }: Pick<KafkaLogOptions, 'brokers' | 'ssl' | 'sasl'>,
  principal: string,
  rights: readonly Right[],
): Promise<void> {
  const kafka = new kafkajs.Kafka({
    brokers: [...brokers],
    clientId: 'svc-topics-grant',
    logLevel: kafkajs.logLevel.NOTHING,
    ...(ssl === undefined ? {} : { ssl }),
    ...(sasl === undefined ? {} : { sasl }),
  });
  const admin = kafka.admin();
  await admin.connect();
  try {
    await admin.createAcls({ acl: rights.flatMap((right) => entriesOf(right, principal)) });
  } finally {
    await admin.disconnect();
  }
}

const entriesOf = (
  { resource, name, isPrefix, operations }: Right,
  principal: string,
): AclEntry[] =>
  operations.map((operation) => ({
    resourceType: resourceTypes[resource],
    resourceName: name,
    resourcePatternType: isPrefix ? ResourcePatternTypes.PREFIXED : ResourcePatternTypes.LITERAL,
    principal,
    host: '*',
    operation: operationTypes[operation],
    permissionType: AclPermissionTypes.ALLOW,
  }));
