import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getuid } from 'node:process';
import { installPackages } from '#test/services/packages.ts';
import { freePort } from '#test/services/ports.ts';
import { startService, type Service } from '#test/services/service.ts';

/** Its workers would be nobody otherwise, and read nothing here. */
const isRoot = getuid?.() === 0;

/** What nginx listens with: one process, as there is one of whatever it is compared with. */
const settings = (folder: string, server: string, upstream = '') => `
daemon off;
${isRoot ? 'user root;' : ''}
worker_processes 1;
pid ${folder}/nginx.pid;
error_log stderr notice;
events { worker_connections 1024; }
http {
  access_log off;
  sendfile on;
  tcp_nopush on;
  tcp_nodelay on;
  keepalive_requests 100000000;
  client_max_body_size 0;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  ${upstream}
  server { ${server} }
}
`;

/** nginx with files of so many bytes at `/<name>`. */
export async function startFileServer(files: Readonly<Record<string, number>>): Promise<Service> {
  const port = await freePort();
  return start(port, async (folder) => {
    const root = join(folder, 'files');
    await mkdir(root);
    for (const [name, bytes] of Object.entries(files)) {
      await writeFile(join(root, name), Buffer.alloc(bytes, 'x'));
    }
    return settings(folder, `listen 127.0.0.1:${port}; root ${root};`);
  });
}

/** nginx as a plain `proxy_pass` that keeps its connections, with one header put in. */
export async function startForwarder(to: string, header: string): Promise<Service> {
  const port = await freePort();
  const upstream = `upstream provider { server ${new URL(to).host}; keepalive 64; keepalive_requests 100000000; }`;
  const location = `location / {
    proxy_pass http://provider;
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    proxy_set_header Authorization "${header}";
  }`;
  const server = `listen 127.0.0.1:${port}; ${location}`;
  return start(port, async (folder) => settings(folder, server, upstream));
}

async function start(
  port: number,
  configure: (folder: string) => Promise<string>,
): Promise<Service> {
  await installPackages('nginx', 'nginx', ['nginx']);
  const url = `http://127.0.0.1:${port}`;
  return startService({
    name: 'nginx',
    url,
    command: 'nginx',
    args: (folder) => ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr'],
    prepare: async (folder) => writeFile(join(folder, 'nginx.conf'), await configure(folder)),
    isReady: async () =>
      fetch(url).then(
        () => true,
        () => false,
      ),
  });
}
