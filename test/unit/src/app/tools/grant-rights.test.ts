import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { serviceRights } from '#adapters/event-log/kafka/rights.ts';
import { grantTopicRights, type Grant } from '#app/tools/grant-rights.ts';

const embedded = { kind: 'embedded' } as const;
const granted = (grant: Partial<Grant>, topicPrefix = 'svc') =>
  grantTopicRights(
    {
      principal: 'User:reports',
      read: ['svc.records.v1'],
      group: 'data.',
      isApplied: false,
      ...grant,
    },
    { logUrl: embedded, topicPrefix },
  );

describe('the rights of a reader', () => {
  it('are those on its topics, by the names in Kafka, and on its groups', async () => {
    const read = ['svc.records.v1', 'svc.cdc.dev.*'];
    const common =
      "kafka-acls.sh --bootstrap-server $BROKERS --command-config admin.properties --add --allow-principal 'User:reports'";
    expect(await granted({ read }, 'eu')).toEqual([
      `${common} --operation Describe --operation Read --topic eu.records.v1`,
      `${common} --operation Describe --operation Read --topic eu.cdc.dev. --resource-pattern-type prefixed`,
      `${common} --operation Read --group data. --resource-pattern-type prefixed`,
    ]);
  });

  it.each([
    [{ read: ['svc.internal.keys.v1'] }, 'are for the service alone'],
    [{ read: ['svc.int*'] }, 'are for the service alone'],
    [{ read: ['svc.*'] }, 'are for the service alone'],
    [{ read: ['*'] }, 'are for the service alone'],
    [{ read: ['svc.record.v1'] }, 'There is no topic svc.record.v1. There are svc.records.v1'],
    [{ read: ['svc.nothing.*'] }, 'There is no topic svc.nothing.*'],
    [{ group: 'svc' }, 'Groups of the service begin with svc'],
    [{ group: 'svc-owners' }, 'Groups of the service begin with svc'],
    [{ group: '' }, 'Groups of the service begin with svc'],
    [{ principal: 'reports' }, 'such as User:reports'],
    [{ principal: "User:a' --cluster" }, 'such as User:reports'],
    [{ isApplied: true }, '--apply needs SVC_LOG_URL'],
  ])('%o is refused', async (grant, reason) => {
    await expect(granted(grant)).rejects.toThrow(reason);
  });
});

describe('the rights of the service', () => {
  it('are those of the page of operations', () => {
    const page = readFileSync(
      new URL('../../../../../docs/operations.md', import.meta.url),
      'utf8',
    );
    const [, section = ''] = page.split('\n## Users of Kafka\n');
    const rows = (section.split('\n## ')[0] ?? '')
      .split('\n')
      .filter((line) => line.startsWith('| ') && line.includes('`'))
      .map((line) =>
        line
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim()),
      );
    expect(rows).toEqual(
      serviceRights('svc').map(({ resource, name, operations }) => [
        resource,
        `\`${name}\``,
        operations.join(', '),
      ]),
    );
  });
});
