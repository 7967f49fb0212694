/**
 * Imported before the tests of another file, it makes their gateways work on the Kafka, registry and Redis of
 * this run, under a prefix of this file alone; its topics are deleted in the end.
 */
import kafkajs from 'kafkajs';
import { afterAll } from 'vitest';
import { ownPrefix, serviceUrl } from '#test/services/url.ts';
import { prefixVariable } from './deployment.ts';

const prefix = ownPrefix();
process.env[prefixVariable] = prefix;

afterAll(async () => {
  const brokers = serviceUrl('kafka').replace('kafka://', '').split(',');
  const admin = new kafkajs.Kafka({ brokers, logLevel: kafkajs.logLevel.NOTHING }).admin();
  await admin.connect();
  const topics = (await admin.listTopics()).filter((name) => name.startsWith(`${prefix}-`));
  if (topics.length > 0) await admin.deleteTopics({ topics });
  await admin.disconnect();
});
