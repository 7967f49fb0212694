import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KafkaLogOptions } from '../../src/adapters/event-log/kafka/open.ts';
import { startKafka } from '../services/kafka.ts';
import { freePort } from '../services/ports.ts';
import type { Service } from '../services/service.ts';
import { ownPrefix } from '../services/url.ts';
import { openTestLog } from '../support/kafka-open.ts';
import { keptTopic, keysOf, message, placed } from '../support/log.ts';

const password = 'right-password';
const login = 'org.apache.kafka.common.security.plain.PlainLoginModule required';

let kafka: Service;
let url: string;
beforeAll(async () => {
  const [inside, outside, control] = [await freePort(), await freePort(), await freePort()];
  url = `kafka://127.0.0.1:${outside}`;
  const outsiders = 'listener.name.outside.plain.sasl.jaas.config';
  kafka = await startKafka({
    settings: {
      'listener.security.protocol.map':
        'PLAINTEXT:PLAINTEXT,OUTSIDE:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT',
      listeners: `PLAINTEXT://127.0.0.1:${inside},OUTSIDE://127.0.0.1:${outside},CONTROLLER://127.0.0.1:${control}`,
      'advertised.listeners': `PLAINTEXT://127.0.0.1:${inside},OUTSIDE://127.0.0.1:${outside}`,
      'controller.quorum.voters': `1@127.0.0.1:${control}`,
      'listener.name.outside.sasl.enabled.mechanisms': 'PLAIN',
      [outsiders]: `${login} user_svc="${password}";`,
    },
  });
});
afterAll(() => kafka.stop());

const signIn = (given: string): Partial<KafkaLogOptions> => ({
  prefix: ownPrefix(),
  sasl: { mechanism: 'plain', username: 'svc', password: given },
});

describe('a broker that asks for a sign-in', () => {
  it('serves who signs in, over every connection, and again after a restart', async () => {
    await using opened = await openTestLog(url, signIn(password));
    const { log } = opened;
    await log.ensureTopics([keptTopic('topic')]);
    await log.append([placed('topic', 0, message('a'))]);
    await kafka.kill();
    await kafka.restart();
    await using writer = await log.openWriter('writer');
    await writer.commit([placed('topic', 0, message('b'))]);
    await log.append([placed('topic', 0, message('c'))]);
    let keys: string[] = [];
    while (keys.length < 3) keys = await keysOf(log, 'topic');
    expect(keys).toEqual(['a', 'b', 'c']);
  });

  it('refuses another password at once, and the error does not repeat it', async () => {
    const refused = await openTestLog(url, signIn('wrong-password')).catch(
      (error: unknown) => error as Error,
    );
    expect(refused).toMatchObject({ code: 'log_unavailable' });
    expect(JSON.stringify(refused)).not.toContain('wrong-password');
    expect(String((refused as Error).stack)).not.toContain('wrong-password');
    expect((refused as Error).message).toContain('authentication');
  });
});
