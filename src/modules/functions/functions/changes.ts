import { isJsonObject, stableJson, type Json, type JsonObject } from '#kernel/stable-json.ts';
import type { DeployedFunction } from './function.ts';

/** What distinguishes two deployments of a function. */
export type Content = Pick<
  DeployedFunction,
  | 'kind'
  | 'name'
  | 'integrationKey'
  | 'bundle'
  | 'source'
  | 'description'
  | 'version'
  | 'models'
  | 'jsonSchema'
  | 'inputModel'
  | 'scopes'
  | 'features'
  | 'frequency'
  | 'autoStart'
  | 'trackDeletes'
  | 'syncType'
  | 'webhookSubscriptions'
  | 'event'
  | 'delivery'
>;

/** A field of a model, nested ones as `address.city`. */
export interface FieldChange {
  readonly field: string;
  readonly change: 'added' | 'removed' | 'retyped';
  /** Type before; null: there was none. */
  readonly from: string | null;
  readonly to: string | null;
}

/** What a deployment changes about a function. */
export interface FunctionChange {
  /** `code`, `model`, or the name of a setting. */
  readonly part: string;
  /** The model, for the part `model`. */
  readonly model: string | null;
  /** Before and after, of a setting. */
  readonly from: string | null;
  readonly to: string | null;
  /** Of a model. */
  readonly fields: readonly FieldChange[];
}

/** Settings by the names of the API. */
const settings = {
  frequency: 'frequency',
  auto_start: 'autoStart',
  track_deletes: 'trackDeletes',
  sync_type: 'syncType',
  event: 'event',
  delivery: 'delivery',
  version: 'version',
  description: 'description',
  scopes: 'scopes',
  features: 'features',
  webhook_subscriptions: 'webhookSubscriptions',
  models: 'models',
  input: 'inputModel',
} as const satisfies Record<string, keyof Content>;

/** In the order code, models, settings. */
export function changesOf(before: Content, after: Content): FunctionChange[] {
  const changes: FunctionChange[] = [];
  const plain = { model: null, from: null, to: null, fields: [] };
  if (before.bundle !== after.bundle || before.source !== after.source) {
    changes.push({ ...plain, part: 'code' });
  }
  for (const model of namesOf(before, after)) {
    const fields = fieldChanges(definitionOf(before, model), definitionOf(after, model));
    if (fields.length > 0) changes.push({ ...plain, part: 'model', model, fields });
  }
  for (const [part, key] of Object.entries(settings)) {
    const [from, to] = [valueText(before[key]), valueText(after[key])];
    if (from !== to) changes.push({ ...plain, part, from, to });
  }
  return changes;
}

/** Changes that a reader of the records notices: a field of a sync's model that is gone or of another type. */
export const breakingChanges = (
  kind: DeployedFunction['kind'],
  changes: readonly FunctionChange[],
): FunctionChange[] =>
  (kind === 'sync' ? changes : []).flatMap((change) => {
    const fields = change.fields.filter((one) => one.change !== 'added');
    const isOfRecords = change.model !== null && !change.model.startsWith('SyncMetadata_');
    return isOfRecords && fields.length > 0 ? [{ ...change, fields }] : [];
  });

const definitionsOf = ({ jsonSchema }: Content): JsonObject => {
  const { definitions = null } = jsonSchema;
  return isJsonObject(definitions) ? definitions : {};
};

const definitionOf = (content: Content, model: string): Json | undefined =>
  Object.hasOwn(definitionsOf(content), model) ? definitionsOf(content)[model] : undefined;

/** Models of both: an added or removed one is a change of `models`. */
const namesOf = (before: Content, after: Content): string[] =>
  Object.keys(definitionsOf(before)).filter((name) => Object.hasOwn(definitionsOf(after), name));

const valueText = (value: Json | readonly string[] | undefined): string | null =>
  value === null || value === undefined
    ? null
    : typeof value === 'string'
      ? value
      : stableJson(value);

function fieldChanges(before: Json | undefined, after: Json | undefined): FieldChange[] {
  const [was, is] = [fieldTypes(before), fieldTypes(after)];
  const fields = [...new Set([...was.keys(), ...is.keys()])].sort();
  return fields.flatMap((field): FieldChange[] => {
    const [from = null, to = null] = [was.get(field), is.get(field)];
    if (from === to) return [];
    const change = from === null ? 'added' : to === null ? 'removed' : 'retyped';
    return [{ field, change, from, to }];
  });
}

/** The type of each field of an object, and of the fields of objects in it; `''` for a model that is no object. */
function fieldTypes(schema: Json | undefined, prefix = ''): Map<string, string> {
  if (!isJsonObject(schema) || !isJsonObject(schema['properties'])) {
    return new Map(schema === undefined ? [] : [[prefix, typeOf(schema)]]);
  }
  const required = new Set(Array.isArray(schema['required']) ? schema['required'] : []);
  const types = Object.entries(schema['properties']).flatMap(([name, property]) => {
    const field = prefix === '' ? name : `${prefix}.${name}`;
    const own = `${typeOf(property)}${required.has(name) ? '' : ', optional'}`;
    const isObject = isJsonObject(property) && isJsonObject(property['properties']);
    return [[field, own] as const, ...(isObject ? fieldTypes(property, field) : [])];
  });
  return new Map(types);
}

/** A type as people write it: `string`, `array of number`, `string (date-time) or null`. */
function typeOf(schema: Json): string {
  if (!isJsonObject(schema)) return stableJson(schema);
  const { type, format, items, anyOf, oneOf, enum: values } = schema;
  const choices = anyOf ?? oneOf;
  if (Array.isArray(choices)) return choices.map((choice: Json) => typeOf(choice)).join(' or ');
  if (Array.isArray(values)) return values.map((value: Json) => stableJson(value)).join(' or ');
  if (Array.isArray(type)) return type.join(' or ');
  if (type === 'array' && isJsonObject(items)) return `array of ${typeOf(items)}`;
  if (typeof type === 'string') return typeof format === 'string' ? `${type} (${format})` : type;
  return Object.keys(schema).length === 0 ? 'any' : stableJson(schema);
}
