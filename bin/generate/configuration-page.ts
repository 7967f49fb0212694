import { loadConfig, settings } from '#app/config/config.ts';

type SettingName = keyof typeof settings;

/** In the order of the page; each setting is in exactly one group. */
const groups: Readonly<Record<string, readonly SettingName[]>> = {
  'HTTP API': [
    'host',
    'port',
    'publicUrl',
    'rateLimitPerMinute',
    'proxyTimeoutSeconds',
    'webhookRateLimit',
    'webhookUnsignedMbPerHour',
    'connectOrigins',
  ],
  Storage: [
    'dataDir',
    'logUrl',
    'registryUrl',
    'topicPrefix',
    'partitions',
    'kafkaReplication',
    'clickhouseUrl',
    'clickhouseCluster',
    'redisUrl',
  ],
  Roles: ['roles', 'readOnly', 'standby', 'snapshotDir'],
  'Keys and secrets': [
    'encryptionKey',
    'bootstrapAccountKey',
    'bootstrapKeyDev',
    'bootstrapKeyProd',
  ],
  'Providers and outbound requests': ['providers', 'egressAllow', 'demo'],
  'Sign-in of people': [
    'oidcIssuer',
    'oidcClientId',
    'oidcClientSecret',
    'oidcName',
    'oidcScopes',
    'oidcGroupsClaim',
    'oidcRoles',
    'oidcTrustEmail',
  ],
  Mail: ['smtpUrl', 'smtpFrom'],
  Tracing: [
    'otlpEndpoint',
    'otlpTracesEndpoint',
    'tracesSampler',
    'tracesSamplerRatio',
    'serviceName',
  ],
  'Log and tests': ['logLevel', 'faultPoint'],
};

interface Example {
  readonly title: string;
  readonly text: string;
  readonly env: Readonly<Record<string, string>>;
}

const servers = {
  SVC_LOG_URL: 'kafka+ssl://gateway:secret@kafka-1:9093,kafka-2:9093',
  SVC_REGISTRY_URL: 'https://registry:8080/apis/ccompat/v7',
  SVC_CLICKHOUSE_URL: 'https://gateway:secret@clickhouse:8443/gateway',
  SVC_REDIS_URL: 'rediss://:secret@redis:6379',
  SVC_ENCRYPTION_KEY: Buffer.alloc(32, 'example').toString('base64'),
};

const examples: readonly Example[] = [
  {
    title: 'One process, all data in a folder',
    text: 'No setting is required; these make it reachable from other machines.',
    env: {
      SVC_HOST: '0.0.0.0',
      SVC_PUBLIC_URL: 'https://gateway.example.com',
      SVC_DATA_DIR: '/data',
    },
  },
  {
    title: 'Every role in one process, on servers',
    text: 'Start any number of processes: they share the work.',
    env: { ...servers, SVC_HOST: '0.0.0.0', SVC_PUBLIC_URL: 'https://gateway.example.com' },
  },
  {
    title: 'One role for each process',
    text: 'All processes have the same settings except SVC_ROLES; deploy/helm sets them.',
    env: { ...servers, SVC_ROLES: 'owner', SVC_HOST: '0.0.0.0' },
  },
  {
    title: 'Two installations on one Kafka, and a second root key',
    text: 'Prefix and keys are the same in every process of an installation; the second key only opens.',
    env: {
      ...servers,
      SVC_TOPIC_PREFIX: 'gateway-eu',
      SVC_ENCRYPTION_KEY: [1, 2].map((byte) => Buffer.alloc(32, byte).toString('base64')).join(','),
    },
  },
];

type Table = (head: readonly string[], rows: readonly (readonly string[])[]) => string;

/** @throws Error when a setting is in no group, CannotStart when an example would not start */
export function configurationPage(table: Table, hint: string): string {
  const grouped = Object.values(groups).flat();
  const left = Object.keys(settings).filter((name) => !grouped.includes(name as SettingName));
  if (left.length > 0) throw new Error(`configuration-page.ts has no group for ${left.join(', ')}`);
  const sections = Object.entries(groups).map(([title, names]) => {
    const rows = names.map((name) => rowOf(name));
    return `## ${title}\n\n${table(['Variable', 'Default', 'Meaning'], rows)}`;
  });
  return `# Settings

Read once from the environment at the start; every wrong one is named before a socket opens.
An empty variable counts as not set. ${hint}

${sections.join('\n\n')}

## Examples

The keys here are public: generate your own with \`openssl rand -base64 32\`.

${examples.map(exampleText).join('\n\n')}
`;
}

function rowOf(name: SettingName): string[] {
  const setting = settings[name];
  const standard = setting.default;
  const shown = standard === null || standard === '' ? '–' : `\`${standard}\``;
  return [
    `\`${setting.variable}\``,
    shown,
    `${setting.doc}${'isSecret' in setting ? ' Secret.' : ''}`,
  ];
}

function exampleText({ title, text, env }: Example): string {
  loadConfig(env);
  const lines = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  return `### ${title}\n\n${text}\n\n\`\`\`sh\n${lines.join('\n')}\n\`\`\``;
}
