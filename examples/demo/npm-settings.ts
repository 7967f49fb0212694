import { execFileSync } from 'node:child_process';

function npmConfig(name: string): string | null {
  const value = execFileSync('npm', ['config', 'get', name], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
  return ['', 'null', 'undefined'].includes(value) ? null : value;
}

/** The package registry that npm is configured with, as a provider, and what is needed to reach it. */
export function npmSettings() {
  const registry = new URL(npmConfig('registry') ?? '');
  const port = registry.port || (registry.protocol === 'https:' ? '443' : '80');
  const cafile = npmConfig('cafile') ?? process.env['NODE_EXTRA_CA_CERTS'];
  return {
    hostPort: `${registry.hostname}:${port}`,
    provider: {
      display_name: 'Package registry',
      categories: ['dev-tools'],
      auth_mode: 'NONE',
      docs: registry.href,
      proxy: { base_url: registry.href.replace(/\/$/, '') },
    },
    env: cafile === undefined ? {} : { NODE_EXTRA_CA_CERTS: cafile },
  };
}
