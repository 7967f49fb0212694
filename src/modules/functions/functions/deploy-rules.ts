import { GatewayError, type ErrorCode } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import { isJsonObject } from '#kernel/stable-json.ts';
import { integrationsNamed, type ReconciliationScope } from './deploy-body.ts';
import { parseFrequency } from './frequency.ts';
import type { DeployedParts } from './function.ts';

/** Bundle, source and schemas of one function together: they are one message of the log. */
const functionBytesMax = 1_000_000;

/**
 * Validates each function of a deployment beyond the schema of the body.
 * @throws GatewayError with the name of the function
 */
export function checkFunctions(
  scope: ReconciliationScope,
  functions: readonly DeployedParts[],
): void {
  const seen = new Set<string>();
  functions.forEach((parts, index) => {
    const { kind, integrationKey, name } = parts;
    const key = `${kind} ${integrationKey} ${name}`;
    if (seen.has(key)) throw invalid(index, `The ${kind} "${name}" is sent twice.`);
    seen.add(key);
    if (!isInScope(scope, parts)) {
      throw invalid(index, `The ${kind} "${name}" is outside the reconciliation scope.`);
    }
    checkContent(parts);
    if (kind === 'sync') checkFrequency(parts);
    // An on-change function names models of syncs.
    if (kind !== 'on-change') checkModels(parts);
  });
}

export function isInScope(
  scope: ReconciliationScope,
  { kind, integrationKey, name }: Pick<DeployedParts, 'kind' | 'integrationKey' | 'name'>,
): boolean {
  if (scope.kind === 'environment') return true;
  if (!integrationsNamed(scope).includes(integrationKey)) return false;
  return scope.kind !== 'function' || (scope.name === name && scope.type === kind);
}

/**
 * Records of a connection are kept by model, so two syncs of an integration cannot share one.
 * @throws GatewayError `invalid_body`
 */
export function checkModelOwners(
  syncs: readonly Pick<DeployedParts, 'integrationKey' | 'name' | 'models'>[],
): void {
  const owners = new Map<string, string>();
  for (const { integrationKey, name, models } of syncs) {
    for (const model of models) {
      const key = `${integrationKey} ${model}`;
      const owner = owners.get(key);
      owners.set(key, name);
      if (owner === undefined) continue;
      throw new GatewayError('invalid_body', {
        message: `The model "${model}" is defined multiple times in "${integrationKey}": by "${owner}" and by "${name}".`,
        fix: 'Remove one of the two syncs, rename the model in one, or deploy one to another integration.',
      });
    }
  }
}

/**
 * A misspelled model would never change.
 * @param functions all of the environment after the deployment
 * @throws GatewayError `invalid_body`
 */
export function checkChangedModels(
  functions: readonly Pick<DeployedParts, 'kind' | 'integrationKey' | 'name' | 'models'>[],
): void {
  const saved = new Set(
    functions
      .filter(({ kind }) => kind === 'sync')
      .flatMap(({ integrationKey, models }) => models.map((model) => `${integrationKey} ${model}`)),
  );
  for (const { kind, integrationKey, name, models } of functions) {
    if (kind !== 'on-change') continue;
    const unknown = models.find((model) => !saved.has(`${integrationKey} ${model}`));
    if (unknown === undefined) continue;
    throw new GatewayError('invalid_body', {
      message: `The on-change function "${name}" of "${integrationKey}" names the model "${unknown}", which no sync of the integration saves.`,
      fix: 'Name a model of a sync of the same integration, or deploy that sync with it.',
    });
  }
}

/**
 * Each connection of an integration has all of its syncs.
 * @throws GatewayError `invalid_body`
 */
export function checkSyncCounts(
  syncs: readonly Pick<DeployedParts, 'integrationKey' | 'name'>[],
): void {
  const most = limits.connectionSyncsMax;
  for (const [key, { length }] of Map.groupBy(syncs, (one) => one.integrationKey)) {
    if (length <= most) continue;
    throw new GatewayError('invalid_body', {
      message: `"${key}" would have ${length} syncs; an integration has ${most} at the most. Remove some, or use variants of one.`,
    });
  }
}

/**
 * A project is authoritative for its functions: a standalone function can replace only a standalone function. @param
 * present the deployed function of this name
 * @throws GatewayError `invalid_request`
 */
export function checkStandalone(
  present: Pick<DeployedParts, 'integrationKey' | 'kind' | 'name' | 'isStandalone'> | null,
): void {
  if (present === null || present.isStandalone === true) return;
  const { kind, name, integrationKey } = present;
  throw new GatewayError('invalid_request', {
    message: `The ${kind} "${name}" of "${integrationKey}" belongs to a deployed project: change it there, or choose another name.`,
    fix: 'Change the function in its project, or deploy to another integration.',
  });
}

function checkContent(parts: DeployedParts): void {
  const missing = [
    ...(parts.bundle === '' ? ['fileBody.js'] : []),
    ...(parts.source === '' ? ['fileBody.ts'] : []),
    ...(parts.kind === 'sync' && !parts.frequency ? ['runs'] : []),
  ];
  if (missing.length > 0) {
    throw refused(parts, 'missing_required_fields_on_deploy', `lacks ${missing.join(', ')}`);
  }
  const bytes =
    Buffer.byteLength(parts.bundle) +
    Buffer.byteLength(parts.source) +
    Buffer.byteLength(JSON.stringify(parts.jsonSchema));
  if (bytes <= functionBytesMax) return;
  const size = `has ${bytes} bytes of bundle, source and schemas; ${functionBytesMax} are allowed`;
  throw refused(parts, 'request_too_large', size);
}

function checkFrequency(parts: DeployedParts): void {
  try {
    parseFrequency(parts.frequency ?? '');
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    throw refused(parts, error.code, `cannot be scheduled. ${error.message}`);
  }
}

function checkModels(parts: DeployedParts): void {
  const { definitions } = parts.jsonSchema;
  const existing = new Set(isJsonObject(definitions) ? Object.keys(definitions) : []);
  const used = [...parts.models, ...(parts.inputModel === null ? [] : [parts.inputModel])];
  const missing = used.filter((model) => !existing.has(model));
  if (missing.length === 0) return;
  const message = `has no JSON schema of ${missing.join(', ')}`;
  throw refused(parts, 'deploy_missing_json_schema_model', message);
}

function refused(parts: DeployedParts, code: ErrorCode, why: string): GatewayError {
  const { kind, name, integrationKey } = parts;
  return new GatewayError(code, {
    message: `The ${kind} "${name}" of "${integrationKey}" ${why}.`,
  });
}

function invalid(index: number, message: string): GatewayError {
  const path = ['functions', String(index)];
  return new GatewayError('invalid_body', { message, errors: [{ code: 'custom', message, path }] });
}
