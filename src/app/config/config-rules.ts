import type { RootKey } from '#modules/access/vault/root-keys.ts';
import type { LogAddress, ServerAddress } from './addresses.ts';
import type { Rule } from './settings.ts';

interface RuledSettings {
  readonly logUrl: LogAddress;
  readonly registryUrl: ServerAddress;
  readonly clickhouseUrl: ServerAddress;
  readonly redisUrl: ServerAddress;
  readonly topicPrefix: string | null;
  readonly kafkaReplication: number | null;
  readonly encryptionKey: readonly RootKey[] | null;
  readonly bootstrapKeyDev: string | null;
  readonly bootstrapKeyProd: string | null;
  readonly roles: ReadonlySet<Role>;
  readonly oidcIssuer: string | null;
  readonly oidcClientId: string | null;
}

const rule = (
  uses: readonly (keyof RuledSettings)[],
  isBroken: (values: RuledSettings) => boolean,
  text: string,
): Rule<RuledSettings> => ({ uses, problem: (values) => (isBroken(values) ? text : null) });

const isKafka = ({ logUrl }: RuledSettings): boolean => logUrl.kind === 'kafka';
const isEmbedded = ({ logUrl }: RuledSettings): boolean => logUrl.kind === 'embedded';
const isSplit = (ruled: RuledSettings): boolean => ruled.roles.size < roles.length;

/** Invalid combinations of settings, each with its fix. */
export const configRules: readonly Rule<RuledSettings>[] = [
  rule(
    ['oidcIssuer', 'oidcClientId'],
    ({ oidcIssuer, oidcClientId }) => oidcIssuer !== null && oidcClientId === null,
    'SVC_OIDC_CLIENT_ID: required with SVC_OIDC_ISSUER; register this service at the provider',
  ),
  rule(
    ['oidcIssuer', 'oidcClientId'],
    ({ oidcIssuer, oidcClientId }) => oidcIssuer === null && oidcClientId !== null,
    'SVC_OIDC_ISSUER: required with SVC_OIDC_CLIENT_ID; name the issuer, or leave both out',
  ),
  rule(
    ['logUrl', 'registryUrl'],
    (values) => isKafka(values) && values.registryUrl.kind === 'embedded',
    'SVC_REGISTRY_URL: with Kafka a schema registry is required; name its http(s) URL',
  ),
  rule(
    ['logUrl', 'registryUrl'],
    (values) => isEmbedded(values) && values.registryUrl.kind === 'server',
    'SVC_REGISTRY_URL: the embedded log keeps its schemas itself; leave it out, or set SVC_LOG_URL to kafka://…',
  ),
  rule(
    ['logUrl', 'topicPrefix'],
    (values) => isEmbedded(values) && values.topicPrefix !== null,
    'SVC_TOPIC_PREFIX: only topics in Kafka have another prefix; leave it out, or set SVC_LOG_URL to kafka://…',
  ),
  rule(
    ['logUrl', 'kafkaReplication'],
    (values) => isEmbedded(values) && values.kafkaReplication !== null,
    'SVC_KAFKA_REPLICATION: the embedded log has one copy; leave it out, or set SVC_LOG_URL to kafka://…',
  ),
  rule(
    ['logUrl', 'encryptionKey'],
    (values) => isKafka(values) && values.encryptionKey === null,
    'SVC_ENCRYPTION_KEY: required with Kafka, the same in every process (openssl rand -base64 32)',
  ),
  rule(
    ['bootstrapKeyDev', 'bootstrapKeyProd'],
    ({ bootstrapKeyDev: dev, bootstrapKeyProd: prod }) => dev !== null && dev === prod,
    'SVC_BOOTSTRAP_KEY_PROD: the key equals SVC_BOOTSTRAP_KEY_DEV; give each environment a key of its own',
  ),
  rule(
    ['logUrl', 'roles'],
    (values) => isEmbedded(values) && !values.roles.has('owner'),
    'SVC_ROLES: only one process may open the embedded log, and without the role owner no command is decided; add it',
  ),
  rule(
    ['logUrl', 'redisUrl', 'roles'],
    (values) => isKafka(values) && isSplit(values) && values.redisUrl.kind === 'embedded',
    'SVC_REDIS_URL: roles in several processes need a common Redis; name its redis:// URL',
  ),
  rule(
    ['logUrl', 'clickhouseUrl', 'roles'],
    (values) =>
      isKafka(values) && values.clickhouseUrl.kind === 'embedded' && isTablesAlone(values),
    'SVC_CLICKHOUSE_URL: no process could read the tables of this process; name the http(s) URL of a server, or add the role api',
  ),
];

/** A projector whose embedded tables are read by no part of its process. */
const isTablesAlone = ({ roles }: RuledSettings): boolean =>
  roles.has('projector') && !roles.has('api') && !roles.has('runner');

/** The tasks of a process (docs/architecture.md#several-processes). One image; `all` is every role in one process. */
export const roles = ['api', 'owner', 'projector', 'runner', 'webhooks'] as const;
type Role = (typeof roles)[number];

/** @throws Error that names the unknown word */
export function parseRoles(value: string): ReadonlySet<Role> {
  const words = value.split(',').map((word) => word.trim());
  if (words.includes('all')) return new Set(roles);
  return new Set(
    words.map((word) => {
      const role = roles.find((candidate) => candidate === word);
      if (role === undefined) throw new Error(`expected all or ${roles.join(', ')}, got "${word}"`);
      return role;
    }),
  );
}
