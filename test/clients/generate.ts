import { existsSync } from 'node:fs';
/**
 * `npm run clients -- FOLDER [python] [go] [java]`: generates clients from the OpenAPI document with OpenAPI Generator,
 * each in a folder of its language. They are not part of the repository.
 */
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { endpoints } from '#api/routes.ts';
import { version } from '#app/config/version.ts';
import { openapiDocument } from '#http/openapi/document.ts';
import { cached, cachePath } from '#test/services/cache.ts';
import { announce, requireJava, run, ServiceUnavailable } from '#test/services/commands.ts';
import { copyArtifact } from '#test/services/maven.ts';
import { versions } from '#test/services/versions.ts';

export const languages = ['python', 'go', 'java'] as const;
export type Language = (typeof languages)[number];

/** A server may add fields and values of enums: older clients accept them. */
const tolerant = 'disallowAdditionalPropertiesIfNotPresent=false,enumUnknownDefaultCase=true';

const properties: Readonly<Record<Language, string>> = {
  python: 'packageName=svc_client,projectName=svc-client',
  go: 'packageName=svc,isGoSubmodule=false',
  java: 'library=okhttp-gson,groupId=svc,artifactId=svc-client,invokerPackage=svc.client,apiPackage=svc.client.api,modelPackage=svc.client.model',
};

const name = `openapi-generator-${versions.openapiGenerator}.jar`;

/** The generator, fetched once per machine. @throws ServiceUnavailable without Java 17, or Maven to fetch it */
export async function installGenerator(): Promise<string> {
  await requireJava('The generator of clients', existsSync(cachePath(name)));
  return cached(name, async (path) => {
    announce(`fetching OpenAPI Generator ${versions.openapiGenerator} with Maven (30 MB, once)`);
    const folder = `${path}.fetched`;
    await mkdir(folder);
    const artifact = `org.openapitools:openapi-generator-cli:${versions.openapiGenerator}:jar`;
    try {
      await copyArtifact(artifact, folder);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new ServiceUnavailable(`OpenAPI Generator cannot be fetched: ${reason}`);
    }
    const [file = ''] = await readdir(folder);
    await rename(join(folder, file), path);
  });
}

/** Replaces `folder` by the client of the language. @throws ServiceUnavailable */
export async function generateClient(language: Language, folder: string): Promise<void> {
  const jar = await installGenerator();
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const document = join(folder, 'openapi.json');
  await writeFile(document, await documentForGenerator());
  await run('java', [
    // A second or two of work: optimized compilation costs more than it saves.
    ...['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-jar', jar, 'generate'],
    ...['--generator-name', language, '--input-spec', document, '--output', folder],
    ...['--global-property', 'apiTests=false,modelTests=false,apiDocs=false,modelDocs=false'],
    ...[
      '--additional-properties',
      `${properties[language]},${tolerant},hideGenerationTimestamp=true`,
    ],
    ...['--git-host', 'example.com', '--git-user-id', 'svc', '--git-repo-id', 'client'],
  ]);
}

/** Without constants that are true or false: the generator of Java makes enums of texts of them. */
async function documentForGenerator(): Promise<string> {
  const document = await openapiDocument(endpoints, { version: version(), publicUrl: '' });
  return JSON.stringify(document, (_name, value: unknown) => {
    const { const: constant, ...rest } = (value ?? {}) as { readonly const?: unknown };
    return typeof constant === 'boolean' ? rest : value;
  });
}

if (import.meta.main) {
  const { positionals } = parseArgs({ allowPositionals: true });
  const [folder, ...named] = positionals;
  const unknown = named.filter((one) => !languages.some((language) => language === one));
  if (folder === undefined || unknown.length > 0) {
    console.error(`npm run clients -- FOLDER [${languages.join('] [')}]`);
    process.exitCode = 1;
  } else {
    for (const language of languages) {
      if (named.length > 0 && !named.includes(language)) continue;
      const target = resolve(folder, language);
      await generateClient(language, target);
      console.log(target);
    }
  }
}
