import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { wantedDependencies } from '#cli/dependencies.ts';
import { ownPackage } from '#cli/package.ts';

let folder: string;
let project: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-dependencies-')));
  project = join(folder, 'project');
  mkdirSync(project);
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** @param resolved from where npm says that it installed the package; none: another package manager */
function installed(resolved: string | null, name: string): string {
  const root = join(folder, 'installation/node_modules', name);
  mkdirSync(root, { recursive: true });
  const packages = { [`node_modules/${name}`]: { resolved } };
  const lock = join(folder, 'installation/node_modules/.package-lock.json');
  if (resolved !== null) writeFileSync(lock, JSON.stringify({ packages }));
  return root;
}

const dependencyOn = (root: string): string =>
  wantedDependencies(project, { ...ownPackage(), root, version: '1.2.3' }).svc;

describe('the dependency of a project on this package', () => {
  it('links a checkout', () => {
    expect(dependencyOn(join(folder, 'checkout'))).toBe('file:../checkout');
  });

  it.each(['svc', '@integration-gateway/svc'])('installs the same packed file, as %s', (name) => {
    const root = installed('file:../downloads/svc.tgz', name);
    expect(dependencyOn(root)).toBe('file:../downloads/svc.tgz');
  });

  it.each([
    ['npm', 'https://registry.example/svc-1.2.3.tgz'],
    ['another package manager', null],
  ])('installs this version from the registry where %s did', (_manager, resolved) => {
    const root = installed(resolved, '@integration-gateway/svc');
    expect(dependencyOn(root)).toBe('npm:@integration-gateway/svc@1.2.3');
  });
});
