import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endpoints } from '#api/routes.ts';
import { openapiDocument } from '#http/openapi/document.ts';

/** Before a project's tests: the document against which they hold every answer (`answers.ts`). */
export default async function setup(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-openapi-'));
  const file = join(folder, 'openapi.json');
  const document = await openapiDocument(endpoints, { version: '0.0.0', publicUrl: '' });
  await writeFile(file, JSON.stringify(document));
  process.env['SVC_TEST_OPENAPI'] = file;
  return () => rm(folder, { recursive: true });
}
