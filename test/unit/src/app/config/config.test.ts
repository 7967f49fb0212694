import { describe, expect, it } from 'vitest';
import { roles } from '#app/config/config-rules.ts';
import { loadConfig, settings } from '#app/config/config.ts';
import { shownSettings } from '#app/config/settings.ts';
import { CannotStart } from '#kernel/cannot-start.ts';

function linesOf(load: () => unknown): string[] {
  try {
    load();
  } catch (error) {
    if (error instanceof CannotStart) return error.message.split('\n');
  }
  return [];
}

describe('the settings', () => {
  it('need no variable: everything then runs embedded in one process', () => {
    const config = loadConfig({});
    expect(config).toMatchObject({
      host: '127.0.0.1',
      port: 3003,
      logUrl: { kind: 'embedded' },
      clickhouseUrl: { kind: 'embedded' },
      encryptionKey: null,
      egressAllow: [],
    });
    expect([...config.roles]).toEqual(roles);
  });

  it('are read as what they are', () => {
    const config = loadConfig({
      SVC_PORT: '0',
      SVC_ROLES: 'api, owner',
      SVC_EGRESS_ALLOW: '10.0.0.0/8, db.internal:5432,',
      SVC_PUBLIC_URL: 'https://gateway.test',
    });
    expect(config.port).toBe(0);
    expect([...config.roles]).toEqual(['api', 'owner']);
    expect(config.egressAllow).toEqual(['10.0.0.0/8', 'db.internal:5432']);
    expect(config.publicUrl).toBe('https://gateway.test');
  });

  it('name the origins that may frame the connect page', () => {
    const value = 'https://app.test, https://*.test:8443,http://localhost:5173';
    expect(loadConfig({ SVC_CONNECT_ORIGINS: value }).connectOrigins).toEqual(value.split(/, ?/));
    expect(loadConfig({ SVC_CONNECT_ORIGINS: '*' }).connectOrigins).toEqual(['*']);
    for (const wrong of [
      'app.test',
      'https://app.test/path',
      "https://app.test; script-src 'none'",
    ]) {
      expect(() => loadConfig({ SVC_CONNECT_ORIGINS: wrong })).toThrow('SVC_CONNECT_ORIGINS');
    }
  });

  it('that are empty count as not set', () => {
    expect(loadConfig({ SVC_PORT: '', SVC_PUBLIC_URL: '' })).toEqual(loadConfig({}));
  });

  it('take ClickHouse in process or by its URL, and never repeat a password', () => {
    const url = 'https://svc:p%40ss@tables.internal:8443/gateway';
    expect(loadConfig({ SVC_CLICKHOUSE_URL: url }).clickhouseUrl).toEqual({ kind: 'server', url });
    for (const wrong of ['htp://svc:secret@host:8123/x', 'http://svc:secret@host:port/x']) {
      const load = () => loadConfig({ SVC_CLICKHOUSE_URL: wrong });
      expect(load).toThrow(/SVC_CLICKHOUSE_URL: .*\/\/svc:\*\*\*@host/);
      expect(load).not.toThrow(/secret/);
    }
    expect(() => loadConfig({ SVC_CLICKHOUSE_CLUSTER: "a'b" })).toThrow('SVC_CLICKHOUSE_CLUSTER');
  });

  it('that are wrong are all named at once', () => {
    const wrong = {
      SVC_PORT: '70000',
      SVC_PARTITIONS: 'many',
      SVC_ROLES: 'api,cook',
      SVC_LOG_URL: 'ftp://elsewhere',
      SVC_LOG_LEVEL: 'loud',
    };
    const load = () => loadConfig(wrong);
    expect(load).toThrow(CannotStart);
    for (const name of Object.keys(wrong)) expect(load).toThrow(name);
  });

  it.each([
    ['SVC_PORT', 'tcp://10.0.0.1:80'],
    ['SVC_PUBLIC_URL', 'https://user:hunter2@gateway.test'],
    ['SVC_PUBLIC_URL', 'https://gateway.test/?token=hunter2'],
    ['SVC_LOG_URL', 'user:hunter2@kafka:9092'],
    ['SVC_LOG_URL', 'kafka+ssl://user:hunter2%@kafka:9092'],
    ['SVC_LOG_URL', 'kafka://kafka:99999'],
    ['SVC_TOPIC_PREFIX', 'Upper'],
    ['SVC_KAFKA_REPLICATION', '0'],
    ['SVC_REGISTRY_URL', 'http://user:hunter2%@registry:8081'],
    ['SVC_CLICKHOUSE_URL', 'http://clickhouse:8123/svc?password=hunter2'],
    ['SVC_CLICKHOUSE_URL', 'http://user:hunter2@clickhouse:8123/no-name'],
    ['SVC_CLICKHOUSE_CLUSTER', 'no name'],
    ['SVC_REDIS_URL', 'user:hunter2@redis:6379'],
    ['SVC_REDIS_URL', 'tcp://:hunter2/@redis:6379'],
    ['SVC_SMTP_URL', 'https://svc:hunter2@mail:587'],
    ['SVC_SMTP_URL', 'svc:hunter2@mail'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'grpc://user:hunter2@collector:4317'],
    ['OTEL_TRACES_SAMPLER', 'sometimes'],
    ['OTEL_TRACES_SAMPLER_ARG', '1.5'],
    ['OTEL_TRACES_SAMPLER_ARG', ' '],
    ['SVC_REDIS_URL', 'tcp://redis:6379?password=hunter2'],
    ['SVC_ROLES', 'api,,owner'],
    ['SVC_PARTITIONS', '1.5'],
    ['SVC_STANDBY', 'true'],
    ['SVC_READ_ONLY', 'true'],
    ['SVC_RATE_LIMIT_PER_MINUTE', '-1'],
    ['SVC_WEBHOOK_RATE_LIMIT', 'no'],
    ['SVC_ENCRYPTION_KEY', 'hunter2'],
    ['SVC_ENCRYPTION_KEY', `${Buffer.alloc(32).toString('base64')},hunter2`],
    ['SVC_BOOTSTRAP_ACCOUNT_KEY', `svc_env_hunter2${'a'.repeat(36)}`],
    ['SVC_BOOTSTRAP_KEY_DEV', `svc_acct_hunter2${'a'.repeat(36)}`],
    ['SVC_BOOTSTRAP_KEY_PROD', `svc_env_hunter2${'a'.repeat(36)}\n`],
    ['SVC_CONNECT_ORIGINS', 'app.test'],
    ['SVC_EGRESS_ALLOW', '10.0.0.0/8,localhost'],
    ['SVC_LOG_LEVEL', 'loud'],
  ])('are refused in one line that shows no secret: %s', (name, value) => {
    const lines = linesOf(() => loadConfig({ [name]: value }));
    expect(lines).toEqual([expect.stringMatching(new RegExp(`^${name}: `))]);
    expect(lines[0]).not.toContain('hunter2');
  });

  it('give a process that only reads the role api alone', () => {
    for (const SVC_ROLES of ['all', 'api,owner', '']) {
      expect([...loadConfig({ SVC_READ_ONLY: 'yes', SVC_ROLES }).roles]).toEqual(['api']);
    }
  });

  it('want another key for each environment', () => {
    const key = `svc_env_${'a'.repeat(43)}`;
    const env = { SVC_BOOTSTRAP_KEY_DEV: key, SVC_BOOTSTRAP_KEY_PROD: key };
    expect(linesOf(() => loadConfig(env))).toEqual([
      'SVC_BOOTSTRAP_KEY_PROD: the key equals SVC_BOOTSTRAP_KEY_DEV; give each environment a key of its own',
    ]);
  });

  it('show no secret, neither where they are listed nor where they are wrong', () => {
    const env = {
      SVC_ENCRYPTION_KEY: 'secret',
      SVC_CLICKHOUSE_URL: 'http://svc:secret@clickhouse:8123/svc',
      SVC_HOST: '::',
    };
    const shown = shownSettings(settings, env);
    expect(shown).toMatchObject({
      SVC_ENCRYPTION_KEY: '[set]',
      SVC_CLICKHOUSE_URL: 'http://svc:***@clickhouse:8123/svc',
      SVC_HOST: '::',
      SVC_PROVIDERS: null,
    });
    expect(Object.keys(shown)).toHaveLength(Object.keys(settings).length);
    const wrong = { SVC_CLICKHOUSE_URL: 'tcp://svc:secret@clickhouse:9000' };
    expect(() => loadConfig(wrong)).toThrow('tcp://svc:***@clickhouse:9000');
  });

  const kafka = {
    SVC_LOG_URL: 'kafka://one:9092,two:9093',
    SVC_REGISTRY_URL: 'http://registry:8081',
    SVC_REDIS_URL: 'redis://redis:6379',
    SVC_ENCRYPTION_KEY: Buffer.alloc(32).toString('base64'),
  };

  it('name Kafka by its brokers, in the clear or by TLS with a sign-in', () => {
    expect(loadConfig(kafka)).toMatchObject({
      logUrl: { kind: 'kafka', brokers: ['one:9092', 'two:9093'], isTls: false, sasl: null },
      topicPrefix: 'svc',
      partitions: 24,
      kafkaReplication: null,
    });
    const signedIn = (query: string) =>
      loadConfig({ ...kafka, SVC_LOG_URL: `kafka+ssl://us%20er:p%40ss@one:9092${query}` }).logUrl;
    const [username, password] = ['us er', 'p@ss'];
    expect(signedIn('')).toEqual({
      kind: 'kafka',
      brokers: ['one:9092'],
      isTls: true,
      sasl: { mechanism: 'scram-sha-512', username, password },
    });
    expect(signedIn('?sasl=plain')).toMatchObject({ sasl: { mechanism: 'plain' } });
    expect(loadConfig({}).partitions).toBe(4);
  });

  it.each([
    ['kafka://', /SVC_LOG_URL: expected/],
    ['kafka://one', /SVC_LOG_URL: expected/],
    ['kafka+ssl://user:secret@one', /user:\*\*\*@one/],
    ['kafka+ssl://user:secret@one:9092?sasl=oauth', /sasl=plain or sasl=/],
    ['kafka+ssl://user:secret@one:9092?sals=plain', /"sals" is no parameter/],
    ['kafka://user:secret@one:9092?sasl=plain', /kafka\+ssl/],
    ['kafka://one:9092?sasl=plain', /needs user:password@/],
  ])('refuse the log %s', (url, reason) => {
    const load = () => loadConfig({ ...kafka, SVC_LOG_URL: url });
    expect(load).toThrow(reason);
    expect(load).not.toThrow(/secret/);
  });

  it.each([
    [{ SVC_LOG_URL: kafka.SVC_LOG_URL }, ['SVC_REGISTRY_URL', 'SVC_ENCRYPTION_KEY']],
    [{ ...kafka, SVC_REDIS_URL: '', SVC_ROLES: 'api,owner' }, ['SVC_REDIS_URL']],
    [{ ...kafka, SVC_ROLES: 'projector' }, ['SVC_CLICKHOUSE_URL']],
    [{ SVC_REGISTRY_URL: 'http://registry:8081' }, ['SVC_REGISTRY_URL']],
    [
      { SVC_TOPIC_PREFIX: 'other', SVC_KAFKA_REPLICATION: '3' },
      ['SVC_TOPIC_PREFIX', 'SVC_KAFKA_REPLICATION'],
    ],
    [{ SVC_ROLES: 'api' }, ['SVC_ROLES']],
  ])('that make no sense together are named, all at once: %j', (env, names) => {
    const load = () => loadConfig(env);
    expect(linesOf(load).map((line) => line.split(':')[0])).toEqual(names);
  });

  it('may leave out Redis in the only process, and ClickHouse where each fills its own tables', () => {
    expect(() => loadConfig({ ...kafka, SVC_REDIS_URL: '' })).not.toThrow();
    expect(() => loadConfig({ ...kafka, SVC_ROLES: 'api' })).not.toThrow();
    expect(() => loadConfig({ ...kafka, SVC_ROLES: 'owner' })).not.toThrow();
  });
});
