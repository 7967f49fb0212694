import { createSync } from 'svc';
import { z } from 'zod';
import { packagePath, type PackageDocument, type PackageVersion } from '../package-document.js';

const Release = z.object({
  /** `<package>@<version>` */
  id: z.string(),
  name: z.string(),
  version: z.string(),
  publishedAt: z.string().nullable(),
  license: z.string().nullable(),
  dependencies: z.number(),
  unpackedSize: z.number().nullable(),
  deprecated: z.boolean(),
});
type Release = z.infer<typeof Release>;

const sync = createSync({
  description: 'Every published version of the packages that the connection names in its metadata',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: false,
  models: { Release },
  metadata: z.object({ packages: z.array(z.string()).optional() }),
  /** The last package that was saved: an interrupted run goes on after it. */
  checkpoint: z.object({ package: z.string() }),

  exec: async (svc) => {
    const { packages = [] } = await svc.getMetadata();
    const checkpoint = await svc.getCheckpoint();
    const done = checkpoint?.package ?? '';
    const names = [...new Set(packages)].sort();

    await svc.trackDeletesStart('Release');
    for (const name of names.filter((candidate) => candidate > done)) {
      const { data } = await svc.get<PackageDocument>({ endpoint: packagePath(name), retries: 3 });
      await svc.batchSave(releasesOf(data), 'Release');
      await svc.saveCheckpoint({ package: name });
    }
    await svc.trackDeletesEnd('Release');
    await svc.clearCheckpoint();
  },
});

function releasesOf(document: PackageDocument): Release[] {
  return Object.values(document.versions ?? {}).map((release) => ({
    id: `${document.name}@${release.version}`,
    name: document.name,
    version: release.version,
    publishedAt: document.time?.[release.version] ?? null,
    license: licenseOf(release),
    dependencies: Object.keys(release.dependencies ?? {}).length,
    unpackedSize: release.dist?.unpackedSize ?? null,
    deprecated: release.deprecated !== undefined && release.deprecated !== false,
  }));
}

function licenseOf({ license }: PackageVersion): string | null {
  return (typeof license === 'object' ? license?.type : license) ?? null;
}

export default sync;
