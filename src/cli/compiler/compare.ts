import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  changesOf,
  type Content,
  type FunctionChange,
} from '#modules/functions/functions/changes.ts';
import { functionPath } from '../project-layout.ts';
import type { Artifact, IntegrationArtifacts } from './artifacts.ts';
import type { CompileResult } from './compile.ts';

/** What a compilation changes about the functions that the last one has written, by path without extension. */
export interface Difference {
  readonly added: readonly string[];
  readonly changed: readonly {
    readonly path: string;
    readonly changes: readonly FunctionChange[];
  }[];
  readonly removed: readonly string[];
}

/** Compares with `.svc/svc.json` and the bundles: call it before they are written. */
export function compareWithBuild(root: string, { functions }: CompileResult): Difference {
  const before = new Map(writtenFunctions(root).map((one) => [pathOf(one), one]));
  const after = functions.map(({ entry, artifact, bundle }) =>
    contentOf(entry.integrationKey, artifact, bundle),
  );
  const paths = new Set(after.map(pathOf));
  return {
    added: [...paths].filter((path) => !before.has(path)),
    changed: after.flatMap((content) => {
      const was = before.get(pathOf(content));
      const changes = was === undefined ? [] : changesOf(was, content);
      return changes.length === 0 ? [] : [{ path: pathOf(content), changes }];
    }),
    removed: [...before.keys()].filter((path) => !paths.has(path)),
  };
}

const pathOf = ({ integrationKey, kind, name }: Content): string =>
  functionPath(integrationKey, kind, name);

/** Of the last compilation; none if there was none, or its files are not as this version writes them. */
function writtenFunctions(root: string): Content[] {
  const file = join(root, '.svc', 'svc.json');
  if (!existsSync(file)) return [];
  try {
    const all = JSON.parse(readFileSync(file, 'utf8')) as IntegrationArtifacts[];
    return all.flatMap(({ providerConfigKey: key, syncs, actions, onEventScripts }) => [
      ...[...syncs, ...actions].map((artifact) =>
        contentOf(key, artifact, bundleAt(root, key, artifact)),
      ),
      ...Object.entries(onEventScripts).flatMap(([event, scripts]) =>
        scripts.map((script) => {
          const artifact = { type: 'on-event', event, ...script } as const;
          return contentOf(key, artifact, bundleAt(root, key, artifact));
        }),
      ),
    ]);
  } catch {
    return [];
  }
}

function bundleAt(root: string, integrationKey: string, { type, name }: Artifact): string {
  const path = functionPath(integrationKey, type, name).replaceAll('/', '_');
  const file = join(root, 'build', `${path}.cjs`);
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

/** The source is not kept: the bundle stands for it. */
function contentOf(integrationKey: string, artifact: Artifact, bundle: string): Content {
  const { type: kind, name, description, version } = artifact;
  const base = {
    ...{ kind, name, integrationKey, bundle, source: '', description, version },
    ...{ models: [], jsonSchema: {}, inputModel: null, scopes: [], features: [] },
    ...{ frequency: null, autoStart: false, trackDeletes: false, syncType: 'full' as const },
    ...{ webhookSubscriptions: [], event: null },
  };
  if (artifact.type === 'on-event') return { ...base, event: artifact.event };
  const { output: models, json_schema: jsonSchema, input: inputModel, scopes, features } = artifact;
  const typed = { ...base, models, jsonSchema, inputModel, scopes, features };
  if (artifact.type === 'action') return typed;
  return {
    ...typed,
    frequency: artifact.runs,
    autoStart: artifact.auto_start,
    trackDeletes: artifact.track_deletes,
    syncType: artifact.sync_type,
    webhookSubscriptions: artifact.webhookSubscriptions,
  };
}
