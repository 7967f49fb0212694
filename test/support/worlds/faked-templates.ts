import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startFakedGateway, type FakedGateway } from '#cli/fakes/gateway-process.ts';
import { openProjectFakes, type IntegrationFake } from '#cli/fakes/project-fakes.ts';
import { ownPackage } from '#cli/package.ts';
import { templatesFolder } from '#rules/templates.ts';

/** A gateway of its own with a fake of the provider of the templates. */
export interface FakedTemplates extends AsyncDisposable {
  readonly gateway: FakedGateway;
  readonly fake: IntegrationFake;
}

export async function openFakedTemplates(provider: string): Promise<FakedTemplates> {
  await using stack = new AsyncDisposableStack();
  const root = mkdtempSync(join(tmpdir(), 'svc-templates-'));
  stack.defer(() => rmSync(root, { recursive: true, force: true }));
  cpSync(join(templatesFolder, provider), join(root, provider), { recursive: true });
  writeFileSync(join(root, 'package.json'), '{}');
  const fakes = stack.use(await openProjectFakes(root));
  const fake = fakes.of(provider);
  const { hostPort } = fakes;
  const { version } = ownPackage();
  const definitions = fakes.definitions();
  const gateway = stack.use(await startFakedGateway({ definitions, hostPort, version }));
  const opened = stack.move();
  return { gateway, fake, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}
