import { join } from 'node:path';
import { run } from './commands.ts';
import { installPackages } from './packages.ts';
import { freePort } from './ports.ts';
import { startService, type Service } from './service.ts';

export interface RedisOptions {
  /** Then the URL has it too. */
  readonly password?: string;
  /** Then the URL is `rediss:`, and the folder has the self-signed `certificate.pem`. */
  readonly isEncrypted?: boolean;
}

/** A Redis, empty; keeps its data over a restart, also when it is killed. @throws ServiceUnavailable */
export async function startRedis(options: RedisOptions = {}): Promise<Service> {
  await installRedis();
  const { password, isEncrypted = false } = options;
  const port = String(await freePort());
  const user = password === undefined ? '' : `:${password}@`;
  return startService({
    name: 'Redis',
    url: `${isEncrypted ? 'rediss' : 'redis'}://${user}127.0.0.1:${port}`,
    command: 'redis-server',
    args: (folder) => [
      ...['--bind', '127.0.0.1', '--dir', folder],
      ...['--save', '', '--appendonly', 'yes', '--appendfsync', 'no'],
      ...(password === undefined ? [] : ['--requirepass', password]),
      ...(isEncrypted ? encryptedOn(port, folder) : ['--port', port]),
    ],
    ...(isEncrypted ? { prepare: makeCertificate } : {}),
    isReady: (output) => output.includes('Ready to accept connections'),
  });
}

const certificateIn = (folder: string) => ({
  certificate: join(folder, 'certificate.pem'),
  key: join(folder, 'key.pem'),
});

function encryptedOn(port: string, folder: string): string[] {
  const { certificate, key } = certificateIn(folder);
  const files = ['--tls-cert-file', certificate, '--tls-key-file', key];
  return [...['--port', '0', '--tls-port', port, '--tls-auth-clients', 'no'], ...files];
}

async function makeCertificate(folder: string): Promise<void> {
  const { certificate, key } = certificateIn(folder);
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const kind = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2'];
  await run('openssl', ['req', ...kind, ...subject, '-keyout', key, '-out', certificate]);
}

/** @throws ServiceUnavailable */
export const installRedis = (): Promise<void> =>
  installPackages('redis-server', 'Redis', ['redis-server']);
