import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { objectOf, type JsonObject } from '#kernel/stable-json.ts';
import { sha256, type Template } from '#rules/templates.ts';
import { readManifest } from '../dependencies.ts';
import { CommandFailure } from '../exit.ts';
import { testConfiguration } from '../mocks/test-files.ts';
import { functionPath } from '../project-layout.ts';
import { nameInIndex } from '../project.ts';

/** The outcome for the files of a template. */
export interface CopiedTemplate {
  readonly written: readonly string[];
  /** There were before, with the same text. */
  readonly same: readonly string[];
  /** There were before with another text, and were left alone. */
  readonly different: readonly string[];
}

/** The path of a file of a template in a project: its integration may have a key of its own. */
export const projectPath = (template: Template, key: string, path: string): string =>
  path.startsWith(`${template.provider}/`) ? `${key}${path.slice(template.provider.length)}` : path;

/**
 * Copies the template into the project, names it in `index.ts`, and its integration and version in `package.json`.
 * @param key of the integration
 * @throws CommandFailure if the project has a function of that name
 */
export function copyTemplate(root: string, template: Template, key: string): CopiedTemplate {
  const file = projectPath(template, key, template.file);
  if (existsSync(join(root, file))) {
    throw new CommandFailure(
      `${file} exists already, and is not changed. Compare it: svc add --update ${template.provider}/${template.name}`,
    );
  }
  const written: string[] = [];
  const same: string[] = [];
  const different: string[] = [];
  for (const { path, text } of template.files) {
    const target = projectPath(template, key, path);
    const existing = textAt(root, target);
    if (existing === text) same.push(target);
    else if (existing === null) {
      write(root, target, text);
      written.push(target);
    } else different.push(target);
  }
  for (const [path, text] of Object.entries(testConfiguration))
    if (textAt(root, path) === null) write(root, path, text);
  nameInIndex(root, key, template.kind, template.name);
  nameInManifest(root, template, key);
  return { written, same, different };
}

function write(root: string, path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

/** Null without the file. */
export const textAt = (root: string, path: string): string | null =>
  existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : null;

/** A template of the project, as `svc.templates` of `package.json` has it. */
export interface AddedTemplate {
  /** `<integration>/<kind folder>/<name>` */
  readonly path: string;
  readonly integrationKey: string;
  readonly provider: string;
  readonly version: string;
  /** SHA-256 of each file of the template when it was copied, by its path below the templates. */
  readonly files: Readonly<Record<string, string>>;
}

export function addedTemplates(root: string): readonly AddedTemplate[] {
  const templates = objectOf(objectOf(readManifest(root)['svc'])['templates']);
  return Object.entries(templates).map(([path, value]) => {
    const { provider, version, files } = objectOf(value);
    const [integrationKey = ''] = path.split('/');
    const texts = Object.entries(objectOf(files)).map(([name, digest]) => [name, textOf(digest)]);
    return {
      path,
      integrationKey,
      provider: textOf(provider) === '' ? integrationKey : textOf(provider),
      version: textOf(version),
      files: Object.fromEntries(texts) as Record<string, string>,
    };
  });
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function nameInManifest(root: string, template: Template, key: string): void {
  const manifest = readManifest(root);
  const svc = objectOf(manifest['svc']);
  const integrations = objectOf(svc['integrations']);
  const { provider, version, kind, name, files } = template;
  const added = {
    provider,
    version,
    files: Object.fromEntries(files.map(({ path, text }) => [path, sha256(text)])),
  };
  const templates = { ...objectOf(svc['templates']), [functionPath(key, kind, name)]: added };
  const changed: JsonObject = {
    ...manifest,
    svc: {
      ...svc,
      integrations: { ...integrations, [key]: integrations[key] ?? provider },
      templates,
    },
  };
  writeFileSync(join(root, 'package.json'), `${JSON.stringify(changed, null, 2)}\n`);
}
