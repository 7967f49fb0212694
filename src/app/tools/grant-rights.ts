import type { ReadTopic, Right } from '#adapters/event-log/kafka/rights.ts';
import { CannotStart } from '#kernel/cannot-start.ts';
import { topics as ownTopics } from '#streams/topics.ts';
import { kafkaAccessOptions, type LogAddress } from '../config/addresses.ts';
import type { Config } from '../config/config.ts';

/** What is granted to whom. */
export interface Grant {
  /** Such as `User:reports`. */
  readonly principal: string;
  /** Names of topics, or of their first parts with `*` behind; null: all that the service itself needs. */
  readonly read: readonly string[] | null;
  /** First part of the names of the reader's consumer groups. */
  readonly group: string;
  /** Whether the rights are added at the brokers of SVC_LOG_URL, whose user must be allowed to. */
  readonly isApplied: boolean;
}

/**
 * The commands of `kafka-acls.sh` that grant the rights, after they were granted where that is asked for.
 * @throws CannotStart that names what is wrong with the grant
 */
export async function grantTopicRights(
  grant: Grant,
  { logUrl, topicPrefix: prefix }: Pick<Config, 'logUrl' | 'topicPrefix'>,
): Promise<readonly string[]> {
  const { principal, read, group } = grant;
  if (!/^\w+:[^'\s][^']*$/.test(principal)) {
    throw new CannotStart(`A principal is a type and a name, such as User:reports: "${principal}"`);
  }
  // Loads the client of Kafka.
  const { grantRights, readerRights, serviceRights } =
    await import('#adapters/event-log/kafka/rights.ts');
  const rights =
    read === null
      ? serviceRights(prefix)
      : readerRights(read.map(readableTopic), { group: groupOf(group, prefix), prefix });
  if (grant.isApplied) await grantRights(brokersOf(logUrl), principal, rights);
  return rights.map((right) => commandOf(right, principal));
}

const internalTopics = 'svc.internal.';
const typedTopics = 'svc.cdc.';

/** @throws CannotStart for what is none of the public topics */
function readableTopic(text: string): ReadTopic {
  const isPrefix = text.endsWith('*');
  const name = isPrefix ? text.slice(0, -1) : text;
  if (name.startsWith(internalTopics) || (isPrefix && internalTopics.startsWith(name))) {
    throw new CannotStart(`${text}: topics below ${internalTopics} are for the service alone.`);
  }
  const known = Object.keys(ownTopics).filter((topic) => !topic.startsWith(internalTopics));
  const isKnown = isPrefix
    ? known.some((topic) => topic.startsWith(name)) || name.startsWith(typedTopics)
    : known.includes(name) || name.startsWith(typedTopics);
  if (isKnown) return { name, isPrefix };
  throw new CannotStart(
    `There is no topic ${text}. There are ${known.join(', ')}, and typed topics, such as ${typedTopics}dev.crm.contact.v1 or ${typedTopics}dev.*`,
  );
}

/** @throws CannotStart for a part that groups of the service begin with */
function groupOf(group: string, prefix: string): string {
  const isOwn = [`${prefix}.`, `${prefix}-`].some(
    (own) => own.startsWith(group) || group.startsWith(own),
  );
  if (group !== '' && !isOwn) return group;
  throw new CannotStart(
    `Groups of the service begin with ${prefix}: choose another first part, such as data.`,
  );
}

function brokersOf(address: LogAddress) {
  if (address.kind === 'embedded') {
    throw new CannotStart(
      '--apply needs SVC_LOG_URL with a user who may alter the cluster: kafka+ssl://admin:password@host:port',
    );
  }
  return kafkaAccessOptions(address);
}

function commandOf({ resource, name, isPrefix, operations }: Right, principal: string): string {
  return [
    'kafka-acls.sh --bootstrap-server $BROKERS --command-config admin.properties --add',
    `--allow-principal '${principal}'`,
    ...operations.map((operation) => `--operation ${operation}`),
    `--${resource} ${name}`,
    ...(isPrefix ? ['--resource-pattern-type prefixed'] : []),
  ].join(' ');
}
