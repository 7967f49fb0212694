import { createEgressPolicy } from '#adapters/http-client/egress.ts';
import { samplerNames } from '#adapters/tracing/samplers.ts';
import { limits } from '#kernel/limits.ts';
import { isKeyOf, keyPrefixes } from '#modules/access/api-keys/key-format.ts';
import { parseGroupRoles } from '#modules/access/oidc/group-roles.ts';
import { parseRootKeys } from '#modules/access/vault/root-keys.ts';
import {
  issuer,
  logAddress,
  mailServer,
  maskedUrl,
  origins,
  server,
  tablesAddress,
  webAddress,
} from './addresses.ts';
import { configRules, parseRoles } from './config-rules.ts';
import {
  integer,
  list,
  oneOf,
  parseSettings,
  plainName,
  ratio,
  setSettings,
  shownSettings,
  text,
  type Settings,
} from './settings.ts';

/** Every setting of the service (docs/generated/configuration.md): the only reader of the environment. */
export const settings = {
  host: {
    variable: 'SVC_HOST',
    default: '127.0.0.1',
    doc: 'Address that the HTTP API listens on.',
    parse: text,
  },
  port: {
    variable: 'SVC_PORT',
    default: '3003',
    doc: 'TCP port of the HTTP API, or of /health, /ready and /metrics in a process without it; 0 picks a free one.',
    parse: integer(0, 65_535),
  },
  dataDir: {
    variable: 'SVC_DATA_DIR',
    default: './.svc-data',
    doc: 'Folder of all embedded data: log, state stores, views, tables, root key.',
    parse: text,
  },
  publicUrl: {
    variable: 'SVC_PUBLIC_URL',
    default: null,
    doc: 'Public URL of this service, for callback and webhook links; the listening address when not set.',
    parse: webAddress,
    shown: maskedUrl,
  },
  logUrl: {
    variable: 'SVC_LOG_URL',
    default: 'embedded:',
    doc:
      'The event log: `embedded:` keeps it in SVC_DATA_DIR; `kafka://host:port,host:port`, or ' +
      '`kafka+ssl://user:password@host:port` for TLS with SASL (`?sasl=` scram-sha-512, scram-sha-256 or plain).',
    parse: logAddress,
    shown: maskedUrl,
  },
  topicPrefix: {
    variable: 'SVC_TOPIC_PREFIX',
    default: null,
    doc: 'First word of the names of topics, groups and schema subjects in Kafka, instead of `svc`.',
    parse: topicPrefix,
  },
  kafkaReplication: {
    variable: 'SVC_KAFKA_REPLICATION',
    default: null,
    doc: 'Replication factor of created Kafka topics; the number of brokers, 3 at most, when not set.',
    parse: integer(1, 32),
  },
  registryUrl: {
    variable: 'SVC_REGISTRY_URL',
    default: 'embedded:',
    doc: 'The Confluent-compatible schema registry, http(s); `embedded:` keeps ids beside the embedded log.',
    parse: server('http', 'https'),
    shown: maskedUrl,
  },
  clickhouseUrl: {
    variable: 'SVC_CLICKHOUSE_URL',
    default: 'embedded:',
    doc: 'ClickHouse: `embedded:` runs it in this process; `http://user:password@host:8123/database`.',
    parse: tablesAddress,
    shown: maskedUrl,
  },
  clickhouseCluster: {
    variable: 'SVC_CLICKHOUSE_CLUSTER',
    default: null,
    doc: 'Name of a ClickHouse cluster of one shard: tables are then replicated on all its nodes.',
    parse: plainName,
  },
  redisUrl: {
    variable: 'SVC_REDIS_URL',
    default: 'embedded:',
    doc:
      'Coordination between nodes (leases, rate limits, wake-ups): `redis://…`; `embedded:` keeps it in this ' +
      'process, which must then be the only one.',
    parse: server('redis', 'rediss'),
    shown: maskedUrl,
  },
  roles: {
    variable: 'SVC_ROLES',
    default: 'all',
    doc: 'Roles of this process: all, or a comma list of api, owner, projector, runner, webhooks.',
    parse: parseRoles,
  },
  readOnly: {
    variable: 'SVC_READ_ONLY',
    default: 'no',
    doc:
      'yes: this process answers the reads of the API over an existing log, whatever SVC_ROLES says. It writes nothing, ' +
      'starts no work, and refuses every other request with `read_only` (503).',
    parse: oneOf('yes', 'no'),
  },
  partitions: {
    variable: 'SVC_PARTITIONS',
    default: null,
    doc: 'Partitions of the owned topics; 4, or 24 with Kafka, when not set. Once they exist, `svc log repartition` makes more.',
    parse: integer(1, 1024),
  },
  snapshotDir: {
    variable: 'SVC_SNAPSHOT_DIR',
    default: null,
    doc:
      'Folder for a daily copy of the state store of each partition, which nodes may share: a node without the store ' +
      'starts from the copy. No copies when not set.',
    parse: text,
  },
  standby: {
    variable: 'SVC_STANDBY',
    default: 'no',
    doc: 'yes: a process with the role owner keeps the state of all partitions of records, to take over quickly.',
    parse: oneOf('yes', 'no'),
  },
  rateLimitPerMinute: {
    variable: 'SVC_RATE_LIMIT_PER_MINUTE',
    default: '60000',
    doc: 'Requests per minute and API key; 0 = no limit.',
    parse: integer(0, 1_000_000_000),
  },
  proxyTimeoutSeconds: {
    variable: 'SVC_PROXY_TIMEOUT_SECONDS',
    default: '3600',
    doc:
      'Time limit of one call through the proxy, in seconds, from its first byte to the last of its response, ' +
      'with all of its attempts.',
    parse: integer(1, 604_800),
  },
  webhookRateLimit: {
    variable: 'SVC_WEBHOOK_RATE_LIMIT',
    default: 'count',
    doc: `Webhooks of providers beyond ${limits.webhooksInPerMinute} a minute for one integration: count = only counted, enforce = refused with 429.`,
    parse: oneOf('count', 'enforce'),
  },
  webhookUnsignedMbPerHour: {
    variable: 'SVC_WEBHOOK_UNSIGNED_MB_PER_HOUR',
    default: '64',
    doc:
      'Megabytes of unverified webhooks that name a connection (the provider signs nothing, or no secret is set) that are ' +
      'kept in an hour for one integration. More are refused with 429.',
    parse: integer(1, 1_000_000),
  },
  encryptionKey: {
    variable: 'SVC_ENCRYPTION_KEY',
    default: null,
    doc: 'Root key, base64 of 32 bytes, or a comma list: the first seals, all open. Generated on the first start when not set; required with Kafka.',
    isSecret: true,
    parse: parseRootKeys,
  },
  bootstrapAccountKey: {
    variable: 'SVC_BOOTSTRAP_ACCOUNT_KEY',
    default: null,
    doc: 'Account API key of the first start, `svc_acct_` and 43 characters of base64url; generated and printed once when not set.',
    isSecret: true,
    parse: keyOf('account'),
  },
  bootstrapKeyDev: {
    variable: 'SVC_BOOTSTRAP_KEY_DEV',
    default: null,
    doc: 'Full access key of the environment dev, `svc_env_` and 43 characters of base64url; generated and printed once when not set.',
    isSecret: true,
    parse: keyOf('environment'),
  },
  bootstrapKeyProd: {
    variable: 'SVC_BOOTSTRAP_KEY_PROD',
    default: null,
    doc: 'Full access key of the environment prod, in the same form; generated and printed once when not set.',
    isSecret: true,
    parse: keyOf('environment'),
  },
  providers: {
    variable: 'SVC_PROVIDERS',
    default: null,
    doc: 'Folder or file (YAML or JSON) of provider definitions that add to or replace the built-in catalog.',
    parse: text,
  },
  demo: {
    variable: 'SVC_DEMO',
    default: 'yes',
    doc:
      'yes: a gateway on loopback with the embedded log and without SVC_PUBLIC_URL has a fake provider in the box, ' +
      'on another port of loopback.',
    parse: oneOf('yes', 'no'),
  },
  connectOrigins: {
    variable: 'SVC_CONNECT_ORIGINS',
    default: '',
    doc:
      'Comma list of origins (`https://app.example.com`, `https://*.example.com`) whose pages may frame the connect ' +
      'page; `*` = any; none when not set.',
    parse: origins,
  },
  egressAllow: {
    variable: 'SVC_EGRESS_ALLOW',
    default: '',
    doc: 'Comma list of host:port entries or CIDRs that outbound requests may reach although they are private.',
    parse: egressEntries,
  },
  logLevel: {
    variable: 'SVC_LOG_LEVEL',
    default: 'info',
    doc: "Level of the service's own log (JSON on stderr).",
    parse: oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
  },
  smtpUrl: {
    variable: 'SVC_SMTP_URL',
    default: null,
    doc: 'The mail server for alerts and sign-in links: `smtp://user:password@host:port`, or `smtps://…` for TLS from the start. No mail when not set.',
    isSecret: true,
    parse: mailServer,
  },
  smtpFrom: {
    variable: 'SVC_SMTP_FROM',
    default: 'svc@localhost',
    doc: "The sender's address of mail.",
    parse: text,
  },
  oidcIssuer: {
    variable: 'SVC_OIDC_ISSUER',
    default: null,
    doc:
      'Issuer of an OpenID Connect provider where people sign in to the console, as it names itself. Its address may be ' +
      'private. No sign-in with a provider when not set.',
    parse: issuer,
  },
  oidcClientId: {
    variable: 'SVC_OIDC_CLIENT_ID',
    default: null,
    doc: 'Client id of this service at the provider; its redirect URL is SVC_PUBLIC_URL with `/console/oidc/callback`.',
    parse: text,
  },
  oidcClientSecret: {
    variable: 'SVC_OIDC_CLIENT_SECRET',
    default: null,
    doc: 'Client secret of this service at the provider; a public client when not set.',
    isSecret: true,
    parse: text,
  },
  oidcName: {
    variable: 'SVC_OIDC_NAME',
    default: null,
    doc: 'Name of the provider on the sign-in page; the host of the issuer when not set.',
    parse: text,
  },
  oidcScopes: {
    variable: 'SVC_OIDC_SCOPES',
    default: 'openid email profile',
    doc: 'Scopes of the sign-in, separated by spaces.',
    parse: scopesOfOpenId,
  },
  oidcGroupsClaim: {
    variable: 'SVC_OIDC_GROUPS_CLAIM',
    default: 'groups',
    doc: 'Claim with the groups of a person: its name, or a path with dots such as `realm_access.roles`.',
    parse: text,
  },
  oidcRoles: {
    variable: 'SVC_OIDC_ROLES',
    default: '{}',
    doc:
      'Roles of groups as JSON: by group, then by the name of an environment or `account`, one of owner, developer, ' +
      'support, read_only. Who has no role by a group needs an invitation.',
    parse: parseGroupRoles,
  },
  oidcTrustEmail: {
    variable: 'SVC_OIDC_TRUST_EMAIL',
    default: 'no',
    doc: 'yes: addresses count as verified where the provider does not send `email_verified`.',
    parse: oneOf('yes', 'no'),
  },
  otlpEndpoint: {
    variable: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    default: null,
    doc:
      'URL of an OpenTelemetry collector that accepts OTLP over HTTP, without `/v1/traces`. Spans are recorded only when ' +
      'this or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is set.',
    parse: webAddress,
    shown: maskedUrl,
  },
  otlpTracesEndpoint: {
    variable: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    default: null,
    doc: 'The complete URL to which spans are posted, instead of OTEL_EXPORTER_OTLP_ENDPOINT.',
    parse: webAddress,
    shown: maskedUrl,
  },
  tracesSampler: {
    variable: 'OTEL_TRACES_SAMPLER',
    default: 'parentbased_always_on',
    doc: `Which traces are recorded: ${samplerNames.map((name) => `\`${name}\``).join(', ')}.`,
    parse: oneOf(...samplerNames),
  },
  tracesSamplerRatio: {
    variable: 'OTEL_TRACES_SAMPLER_ARG',
    default: '1',
    doc: 'Share of traces that the samplers `traceidratio` and `parentbased_traceidratio` record, 0 to 1.',
    parse: ratio,
  },
  serviceName: {
    variable: 'OTEL_SERVICE_NAME',
    default: 'svc',
    doc: 'The `service.name` of all spans.',
    parse: text,
  },
  faultPoint: {
    variable: 'SVC_TEST_FAULT_POINT',
    default: null,
    doc: 'For crash tests only: the process kills itself when it reaches this point, `name` or `name@nth`.',
    parse: text,
  },
} as const;

export interface Config extends Omit<Settings<typeof settings>, 'partitions' | 'topicPrefix'> {
  readonly partitions: number;
  readonly topicPrefix: string;
}

/** @throws CannotStart that lists every wrong variable and combination, not only the first */
export function loadConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const values = parseSettings(settings, env, configRules);
  const partitions = values.partitions ?? defaultPartitions[values.logUrl.kind];
  const roles = values.readOnly === 'yes' ? readOnlyRoles : values.roles;
  return { ...values, roles, partitions, topicPrefix: values.topicPrefix ?? 'svc' };
}

/** Where the log is, and under which names. @throws CannotStart */
export function readLogSettings(): Pick<Config, 'logUrl' | 'topicPrefix'> {
  const { logUrl, topicPrefix: prefix } = settings;
  // oxlint-disable-next-line no-restricted-properties -- the one reader of the environment
  const { topicPrefix, ...values } = parseSettings({ logUrl, topicPrefix: prefix }, process.env);
  return { ...values, topicPrefix: topicPrefix ?? 'svc' };
}

const readOnlyRoles: Config['roles'] = new Set(['api']);

const defaultPartitions = { embedded: 4, kafka: 24 } as const;

/** An API key in the form that the service generates: 32 random bytes. */
function keyOf(kind: keyof typeof keyPrefixes) {
  return (value: string): string => {
    if (isKeyOf(kind, value)) return value;
    throw new Error(
      `expected ${keyPrefixes[kind]} and 43 characters of A-Z, a-z, 0-9, "-" and "_" ` +
        `(echo ${keyPrefixes[kind]}$(openssl rand -base64 32 | tr '+/' '-_' | tr -d =))`,
    );
  };
}

/** Scopes of a sign-in, which is one of OpenID Connect by the first. */
function scopesOfOpenId(value: string): string {
  const scopes = value.split(/\s+/).filter((scope) => scope !== '');
  if (scopes.includes('openid')) return scopes.join(' ');
  throw new Error(
    `expected openid and further scopes, such as "openid email profile", got "${value}"`,
  );
}

/** Entries that the egress policy accepts. */
function egressEntries(value: string): readonly string[] {
  const entries = list(value);
  createEgressPolicy(entries);
  return entries;
}

/** Names of topics are lower case, with dots and hyphens only. */
function topicPrefix(value: string): string {
  if (/^[a-z][a-z0-9-]{0,63}$/.test(value)) return value;
  throw new Error(
    `expected a lower-case word of letters, digits and hyphens (at most 64), got "${value}"`,
  );
}

/** The settings of this process. @throws CannotStart */
// oxlint-disable-next-line no-restricted-properties -- the one reader of the environment
export const readConfig = (): Config => loadConfig(process.env);

/** The settings to log at start: every variable, secrets masked. */
// oxlint-disable-next-line no-restricted-properties -- the one reader of the environment
export const readShownSettings = () => shownSettings(settings, process.env);

/** Those of them that are set. */
// oxlint-disable-next-line no-restricted-properties -- the one reader of the environment
export const readSetSettings = () => setSettings(settings, process.env);
