import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { endpoints } from '#api/routes.ts';
import { openapiDocument } from '#http/openapi/document.ts';
import { pageDocument } from '#http/page-document.ts';
import { sitePolicy } from '#modules/operations/reference/policy.ts';
import { referenceBody } from '#modules/operations/reference/routes.ts';
import { bundlePage, pages, writeCompressed } from '../page-bundles.ts';

/** The gateway that examples name: it listens there by default. */
const publicUrl = 'http://127.0.0.1:3003';

/** Writes the API reference beside the pages of the site: `openapi.json`, and `api/` with its script and style. */
export async function writeApiReference(root: string, folder: string): Promise<void> {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    version: string;
  };
  const document = await openapiDocument(endpoints, { version, publicUrl });
  const names = await bundlePage(root, join(folder, 'api/assets'), pages['api-reference']);
  const { body } = pageDocument({
    status: 200,
    title: 'svc API',
    publicUrl,
    assets: 'assets/',
    script: names.page,
    style: names.style,
    head: `<meta http-equiv="Content-Security-Policy" content="${sitePolicy.join('; ')}">\n`,
    body: await referenceBody(document, { home: '../', isGateway: false }),
    policy: sitePolicy,
  });
  await writeCompressed(join(folder, 'openapi.json'), Buffer.from(JSON.stringify(document)));
  await writeCompressed(join(folder, 'api/index.html'), body as Buffer);
}
