import type ts from 'typescript';
import { isJsonObject, type Json, type JsonObject } from '#kernel/stable-json.ts';
import { parseFrequency } from '#modules/functions/functions/frequency.ts';
import type { FunctionDefinition } from '#ports/sandbox.ts';
import { optionNode, type DefinitionCall } from './definition-call.ts';
import type { Entry } from './entries.ts';
import { problemAt, type Problem } from './problem.ts';

/** A function whose bundle was loaded. */
export interface LoadedFunction {
  readonly entry: Entry;
  readonly definition: FunctionDefinition;
  readonly call: DefinitionCall;
}

const events = ['post-connection-creation', 'pre-connection-deletion', 'validate-connection'];
const modelName = /^[A-Z][a-zA-Z0-9_]+$/;
const modelNameCharsMax = 255;
const descriptionCharsMax = 2000;

/** Rules that need the values of the definitions, not only their source (docs/reference/cli.md#compilation). */
export function definitionProblems(root: string, all: readonly LoadedFunction[]): Problem[] {
  return [
    ...all.flatMap((one) => [...commonProblems(root, one), ...syncProblems(root, one)]),
    ...repeatedModels(root, all),
    ...repeatedEndpoints(root, all),
  ];
}

export function deprecations(root: string, all: readonly LoadedFunction[]): Problem[] {
  return all
    .filter(({ definition }) => definition.trackDeletes)
    .map((one) =>
      at(root, one, 'trackDeletes', 'trackDeletes is deprecated, use trackDeletesStart/End()'),
    );
}

/** The problem at the option's position in the file, or at the definition's if the option is not there. */
function at(root: string, { call }: LoadedFunction, option: string, message: string): Problem {
  const node: ts.Node = optionNode(call.options, option) ?? call.options;
  return problemAt(root, node, message);
}

function commonProblems(root: string, one: LoadedFunction): Problem[] {
  const { definition } = one;
  const problems: Problem[] = [];
  if (!definition.hasExec) problems.push(at(root, one, 'exec', 'exec should be a function'));
  if (definition.description.length > descriptionCharsMax) {
    problems.push(at(root, one, 'description', 'The description is longer than 2000 characters'));
  }
  if (definition.checkpoint !== null && !isFlatObject(definition.checkpoint)) {
    const message = 'A checkpoint should be a flat object of strings, numbers and booleans';
    problems.push(at(root, one, 'checkpoint', message));
  }
  if (one.entry.kind === 'on-event' && !events.includes(definition.event ?? '')) {
    const message = `Unknown event "${definition.event ?? ''}": should be one of ${events.join(', ')}`;
    problems.push(at(root, one, 'event', message));
  }
  return problems;
}

function syncProblems(root: string, one: LoadedFunction): Problem[] {
  const { definition, entry } = one;
  if (entry.kind !== 'sync') return [];
  const problems: Problem[] = [];
  const interval = intervalProblem(definition.frequency);
  if (interval !== null) problems.push(at(root, one, 'frequency', interval));
  const models = Object.keys(definition.models);
  for (const model of models) {
    if (modelName.test(model) && model.length <= modelNameCharsMax) continue;
    const message = `Model name "${model}" is invalid: it should start with a capital letter and hold letters, digits and _ only`;
    problems.push(at(root, one, 'models', message));
  }
  const { endpoints } = definition;
  if (endpoints.length > 0 && endpoints.length !== models.length) {
    const message = `There should be one endpoint per model: found ${endpoints.length} for ${models.length} models`;
    problems.push(at(root, one, 'endpoints', message));
  }
  if (definition.trackDeletes && definition.syncType === 'incremental') {
    const message = 'trackDeletes cannot be used with an incremental sync';
    problems.push(at(root, one, 'trackDeletes', message));
  }
  return problems;
}

function intervalProblem(frequency: string | null): string | null {
  try {
    parseFrequency(frequency ?? '');
    return null;
  } catch (error) {
    return `Interval is invalid: ${error instanceof Error ? error.message : ''}`;
  }
}

/** Records of a connection are stored by model: two syncs of an integration cannot share one. */
function repeatedModels(root: string, all: readonly LoadedFunction[]): Problem[] {
  const seen = new Set<string>();
  return all.flatMap((one) =>
    Object.keys(one.definition.models).flatMap((model) => {
      const key = `${one.entry.integrationKey}/${model}`;
      if (one.entry.kind !== 'sync' || !seen.has(key)) {
        seen.add(key);
        return [];
      }
      return [at(root, one, 'models', `Model "${model}" is defined multiple times`)];
    }),
  );
}

function repeatedEndpoints(root: string, all: readonly LoadedFunction[]): Problem[] {
  const seen = new Set<string>();
  return all.flatMap((one) => {
    const { endpoint, endpoints } = one.definition;
    const [option, declared] =
      one.entry.kind === 'sync'
        ? ['endpoints', endpoints]
        : ['endpoint', endpoint === null ? [] : [endpoint]];
    return declared.flatMap((each) => {
      const name = endpointName(each);
      const key = `${one.entry.integrationKey} ${name}`;
      const isRepeated = seen.has(key);
      seen.add(key);
      return isRepeated
        ? [at(root, one, option, `Endpoint "${name}" is defined multiple times`)]
        : [];
    });
  });
}

function endpointName({ method, path }: JsonObject): string {
  return `${typeof method === 'string' ? method : 'GET'} ${typeof path === 'string' ? path : ''}`;
}

/** Whether the JSON Schema describes an object whose values are strings, numbers or booleans only. */
function isFlatObject(schema: JsonObject): boolean {
  const choices = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(choices)) {
    return choices.every((choice: Json) => isJsonObject(choice) && isFlatObject(choice));
  }
  if (schema['type'] !== 'object') return false;
  const properties = isJsonObject(schema['properties']) ? Object.values(schema['properties']) : [];
  const others = schema['additionalProperties'];
  return [...properties, ...(isJsonObject(others) ? [others] : [])].every(isLeaf);
}

function isLeaf(schema: Json): boolean {
  if (!isJsonObject(schema)) return false;
  const choices = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(choices)) return choices.every(isLeaf);
  const { type } = schema;
  if ('const' in schema) return isLeafValue(schema['const']);
  if (Array.isArray(schema['enum'])) return schema['enum'].every(isLeafValue);
  return type === 'string' || type === 'number' || type === 'integer' || type === 'boolean';
}

const isLeafValue = (value: Json | undefined): boolean =>
  ['string', 'number', 'boolean'].includes(typeof value);
