import { run } from './commands.ts';
import { versions } from './versions.ts';

const plugin = `org.apache.maven.plugins:maven-dependency-plugin:${versions.mavenDependencyPlugin}`;

/** Copies one file of Maven Central: `group:artifact:version[:type[:classifier]]`. Maven checks its digest. */
export async function copyArtifact(artifact: string, folder: string): Promise<void> {
  const options = [`-Dartifact=${artifact}`, `-DoutputDirectory=${folder}`];
  await run('mvn', ['-q', '-B', `${plugin}:copy`, ...options]);
}

/** Copies what the file of a project needs at run time. */
export async function copyDependencies(
  pom: string,
  folder: string,
  properties: Readonly<Record<string, string>>,
): Promise<void> {
  await run('mvn', [
    ...['-q', '-B', '-f', pom, `${plugin}:copy-dependencies`],
    ...Object.entries(properties).map(([name, value]) => `-D${name}=${value}`),
    ...[`-DoutputDirectory=${folder}`, '-DincludeScope=runtime'],
  ]);
}
