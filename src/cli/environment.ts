import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { withoutTrailingSlashes } from '#kernel/trailing-slashes.ts';
import { fakesEnvironment, readRunningFakes } from './fakes/running-fakes.ts';

type Variables = Readonly<Record<string, string | undefined>>;

/** The settings of the command line, from the environment and the project's `.env`. */
export interface Environment {
  /** Base URL of the service. */
  readonly host: string;
  /** Base URL of the service that issued the key: another one is that of `svc dev --fakes`. */
  hostOf(key: string): string;
  /** The environment of a command that names none. */
  readonly name: string;
  /** The API key of an environment of the service; null when none is set. */
  secretKey(environment: string): string | null;
  /** The variable that `secretKey` looks up first. */
  secretKeyVariable(environment: string): string;
  /** The key of the account, for operators; null when none is set. */
  readonly accountKey: string | null;
  /** The key of the gateway that an import reads; null when none is set. */
  readonly sourceKey: string | null;
  /** The signing key of forwarded webhooks; null when none is set. */
  readonly webhookSigningKey: string | null;
  readonly deployAutoConfirm: boolean;
  readonly dependencyUpdate: boolean;
  readonly isCi: boolean;
  /** The user's folder; `npm run` changes to the package's folder and passes the original one. */
  readonly workingDirectory: string;
  readonly hasEnvFile: boolean;
  /** The known variables, secrets masked. */
  settings(): Setting[];
}

interface Setting {
  readonly name: string;
  /** Null: not set, and without a default. */
  readonly value: string | null;
  readonly source: 'process' | '.env' | 'default';
}

/** Variables with their defaults; keys of environments are added as they are set. */
const defaults: Readonly<Record<string, string | null>> = {
  SVC_HOSTPORT: 'http://localhost:3003',
  SVC_ENV: 'dev',
  SVC_ACCOUNT_KEY: null,
  SVC_SECRET_KEY: null,
  SVC_WEBHOOK_SIGNING_KEY: null,
  SVC_DEPLOY_AUTO_CONFIRM: 'false',
  SVC_CLI_DEPENDENCY_UPDATE: 'true',
  CI: null,
};

/** Only the end of a secret, and nothing of a short one. */
const masked = (value: string): string => `****${value.length > 12 ? value.slice(-4) : ''}`;

/** The process's own variables: only this file of the command line reads them. */
// oxlint-disable-next-line no-restricted-properties -- settings of the command line are read here only
export const processVariables = (): Variables => process.env;

/** Variables of the process override the project's `.env` (docs/reference/cli.md#variables). */
export function readEnvironment(directory: string, variables: Variables): Environment {
  const file = join(directory, '.env');
  const hasEnvFile = existsSync(file);
  const ofFile: Variables = hasEnvFile ? parseEnv(readFileSync(file, 'utf8')) : {};
  const all: Variables = { ...ofFile, ...variables };
  const fakes = readRunningFakes(directory);
  const usual: typeof defaults = {
    ...defaults,
    ...(fakes === null ? {} : { SVC_ENV: fakesEnvironment }),
  };
  const host = withoutTrailingSlashes(all['SVC_HOSTPORT'] || (usual['SVC_HOSTPORT'] ?? ''));
  const settingOf = (name: string): Setting => {
    const value = all[name] || null;
    if (value === null) return { name, value: usual[name] ?? null, source: 'default' };
    const source = variables[name] === undefined ? '.env' : 'process';
    // An address may have a password in it.
    const plain = name === 'SVC_HOSTPORT' ? value.replace(/\/\/[^/@]*@/, '//****@') : value;
    return { name, value: /_KEY(_|$)/.test(name) ? masked(value) : plain, source };
  };
  return {
    host,
    hostOf: (key) => (key === fakes?.key ? fakes.url : host),
    name: all['SVC_ENV'] || (usual['SVC_ENV'] ?? ''),
    secretKeyVariable,
    secretKey: (environment) => {
      if (fakes !== null && environment === fakesEnvironment) return fakes.key;
      const upper = environment.toUpperCase();
      const names = [`SVC_SECRET_KEY_${upper}`, secretKeyVariable(environment), 'SVC_SECRET_KEY'];
      return names.map((name) => all[name]).find((value) => value) ?? null;
    },
    accountKey: all['SVC_ACCOUNT_KEY'] || null,
    sourceKey: all['SVC_SOURCE_KEY'] || null,
    webhookSigningKey: all['SVC_WEBHOOK_SIGNING_KEY'] || null,
    deployAutoConfirm: all['SVC_DEPLOY_AUTO_CONFIRM'] === 'true',
    dependencyUpdate: all['SVC_CLI_DEPENDENCY_UPDATE'] !== 'false',
    isCi: isOn(all['CI']),
    workingDirectory: directory,
    hasEnvFile,
    settings: () => {
      const keys = Object.keys(all).filter((name) => name.startsWith('SVC_SECRET_KEY_'));
      return [...new Set([...Object.keys(defaults), ...keys.sort()])].map(settingOf);
    },
  };
}

/** A shell allows no `-` in a name, so that it becomes `_`. */
const secretKeyVariable = (environment: string): string =>
  `SVC_SECRET_KEY_${environment.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}`;

const isOn = (value: string | undefined): boolean =>
  value !== undefined && !['', '0', 'false'].includes(value.toLowerCase());

/**
 * The user's folder: `npm run svc` starts in the folder of the package with the script, and passes the original one
 * in `INIT_CWD`.
 */
export function userDirectory(variables: Variables, current: string): string {
  const isNpmScript = variables['npm_lifecycle_event'] === 'svc';
  return (isNpmScript ? variables['INIT_CWD'] : undefined) ?? current;
}
