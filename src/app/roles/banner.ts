import { resolve } from 'node:path';
import type { Config } from '../config/config.ts';
import { version } from '../config/version.ts';
import type { OpenedRoles } from './open-roles.ts';

type StartedGateway = Pick<OpenedRoles, 'url' | 'generatedKeys' | 'consoleUrl'>;

/** What a start shows a person: where the service is, how to sign in, and how to stop it. */
export function bannerOf(
  { url, generatedKeys, consoleUrl }: StartedGateway,
  { dataDir, publicUrl, roles }: Pick<Config, 'dataDir' | 'publicUrl' | 'roles'>,
): string {
  const base = publicUrl || url;
  const rows: (readonly [label: string, text: string])[] = [['Address', url]];
  if (roles.has('api')) {
    rows.push(['Console', consoleUrl ?? `${base}/console`]);
    if (consoleUrl !== null) rows.push(['', 'The link signs in once, within five minutes.']);
    rows.push(['Docs', `${base}/docs`]);
  }
  rows.push(['Data', resolve(dataDir)]);
  const keys = generatedKeys.map(({ name, secret }) => `    ${name.padEnd(8)} ${secret}`);
  return [
    '',
    `  svc ${version()}, the integration gateway`,
    '',
    ...rows.map(([label, text]) => `  ${label.padEnd(8)} ${text}`),
    '',
    ...(keys.length === 0
      ? []
      : ['  Keys of the first start; they are shown only now:', ...keys, '']),
    '  Ctrl+C stops the service.',
    '',
  ].join('\n');
}
