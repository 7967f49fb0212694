import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { addressOf, topicOf } from '#modules/extensions/typed-topics/names.ts';
import { isPublicTopic, topics } from '#streams/topics.ts';

const folder = new URL('../../../deploy/connect/', import.meta.url);
const files = globSync('*.json', { cwd: fileURLToPath(folder) }).sort();
const readme = readFileSync(new URL('README.md', folder), 'utf8');

type Recipe = Readonly<Record<string, string>>;
const read = (file: string) => JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Recipe;

const typed = topicOf(addressOf('dev', 'crm', 'Contact'), 1);
const known = [...Object.keys(topics).filter(isPublicTopic), typed];

describe('deploy/connect', () => {
  it('has the recipes that its page lists', () => {
    expect(files.length).toBeGreaterThan(2);
    expect(files.filter((file) => !readme.includes(`](${file})`))).toEqual([]);
  });

  it.each(files)(
    '%s reads committed Avro of a topic that there is, and parks what fails',
    (file) => {
      const recipe = read(file);
      for (const value of Object.values(recipe)) expect(typeof value).toBe('string');
      expect(known).toContain(recipe['topics']);
      expect(recipe).toMatchObject({
        'key.converter': expect.stringMatching(
          /^org\.apache\.kafka\.connect\.(storage\.StringConverter|json\.JsonConverter)$/,
        ) as string,
        'value.converter': 'io.apicurio.registry.utils.converter.AvroConverter',
        'value.converter.apicurio.registry.url': '${env:REGISTRY_URL}',
        'value.converter.apicurio.registry.as-confluent': 'true',
        'consumer.override.isolation.level': 'read_committed',
        'errors.tolerance': 'all',
        'errors.deadletterqueue.topic.name': 'data.dead-letters',
      });
      expect(recipe['consumer.override.group.id']).toBe(`data.${recipe['name']}`);
      for (const name of (recipe['transforms'] ?? '').split(',').filter((one) => one !== '')) {
        expect(recipe[`transforms.${name}.type`]).toMatch(
          /^(io\.debezium|org\.apache\.kafka\.connect)\./,
        );
      }
    },
  );

  it.each(files)('%s holds no secret', (file) => {
    const secrets = Object.entries(read(file)).filter(([name]) =>
      /password|secret|username/.test(name),
    );
    for (const [, value] of secrets) expect(value).toMatch(/^\$\{env:/);
  });
});
