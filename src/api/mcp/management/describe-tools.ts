import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import type { AnyRoute } from '#http/define-route.ts';
import { openapiDocument, type Endpoints } from '#http/openapi/document.ts';
import { resolved } from '#http/openapi/schemas.ts';
import { isWriting } from '#http/pipeline.ts';
import { isJsonObject, objectOf, type Json, type JsonObject } from '#kernel/stable-json.ts';
import { toolDefinitions, type ToolDefinition } from './tools.ts';

/** The part of a request in which a field is sent. */
export interface FieldPlace {
  readonly part: 'path' | 'query' | 'header' | 'body';
  /** As the operation names it. */
  readonly name: string;
}

/** An operation as the agent sees it, and how its arguments become a request. */
export interface ManagementTool {
  readonly definition: ToolDefinition;
  readonly route: AnyRoute;
  readonly isWrite: boolean;
  readonly tool: Tool;
  /** By the name of the argument. */
  readonly places: ReadonlyMap<string, FieldPlace>;
  /** Whether the argument `body` is the whole body. */
  readonly isBodyWhole: boolean;
  /** Whether the response is put in `result`, because a structured result must be an object. */
  readonly isWrapped: boolean;
}

/** The tools of the operations that this gateway has. */
export async function describeTools(endpoints: Endpoints): Promise<readonly ManagementTool[]> {
  const document = await openapiDocument(endpoints, { version: '', publicUrl: '' });
  const paths = objectOf(document['paths']);
  const components = objectOf(objectOf(document['components'])['schemas']);
  const routes = new Map<string, AnyRoute>(
    endpoints.routes.map((one) => [`${one.method} ${one.path}`, one] as const),
  );
  return toolDefinitions.flatMap((definition) => {
    const route = routes.get(definition.endpoint);
    if (route === undefined) return [];
    const operation = objectOf(objectOf(paths[route.path])[route.method.toLowerCase()]);
    return [describeTool({ definition, route, operation, components })];
  });
}

interface ToolSource {
  readonly definition: ToolDefinition;
  readonly route: AnyRoute;
  readonly operation: JsonObject;
  readonly components: JsonObject;
}

function describeTool(source: ToolSource): ManagementTool {
  const { definition, route, operation, components } = source;
  const { name, isDestructive = false, isIdempotent = false, callsProvider = false } = definition;
  const isWrite = isWriting(route);
  const { places, properties, required, isBodyWhole } = argumentsOf(source);
  const { schema, isWrapped } = resultOf(source);
  const inputSchema = {
    type: 'object',
    properties,
    required,
    additionalProperties: false,
  } as const;
  const words = [operation['summary'], operation['description'], definition.next];
  return {
    definition,
    route,
    isWrite,
    places,
    isBodyWhole,
    isWrapped,
    tool: {
      name,
      description: inToolNames(words.filter((text) => typeof text === 'string').join('\n\n')),
      inputSchema: withDefinitions(inputSchema, components) as Tool['inputSchema'],
      outputSchema: withDefinitions(schema, components) as Tool['outputSchema'],
      annotations: {
        readOnlyHint: !isWrite,
        ...(isWrite ? { destructiveHint: isDestructive, idempotentHint: isIdempotent } : {}),
        openWorldHint: callsProvider,
      },
    },
  };
}

/** Headers that are about the transport, not about the operation. */
const transportHeaders = new Set([
  'accept-encoding',
  'accept-language',
  'idempotency-key',
  'if-none-match',
  'user-agent',
]);

interface ToolArguments {
  readonly places: Map<string, FieldPlace>;
  readonly properties: Record<string, Json>;
  readonly required: string[];
  isBodyWhole: boolean;
}

/** Fields of path, query, body and headers side by side; of two with one name the header is left out. */
function argumentsOf({ definition, operation, components }: ToolSource): ToolArguments {
  const made: ToolArguments = {
    places: new Map(),
    properties: {},
    required: [],
    isBodyWhole: false,
  };
  const { fixed = {}, hidden = [], required: needed = [] } = definition;
  const add = (name: string, place: FieldPlace, schema: Json, isRequired: boolean): void => {
    if (made.places.has(name) || Object.hasOwn(fixed, name) || hidden.includes(name)) return;
    made.places.set(name, place);
    made.properties[name] = schema;
    if (isRequired || needed.includes(name)) made.required.push(name);
  };
  const parameters = (operation['parameters'] ?? []) as readonly JsonObject[];
  const addParameters = (isHeader: boolean): void => {
    for (const parameter of parameters) {
      const [name, part] = [parameter['name'] as string, parameter['in'] as FieldPlace['part']];
      if ((part === 'header') !== isHeader || transportHeaders.has(name)) continue;
      const { description = '' } = parameter;
      const schema = { ...objectOf(parameter['schema']), description };
      add(name.replaceAll('-', '_'), { part, name }, schema, parameter['required'] === true);
    }
  };
  addParameters(false);
  const request = objectOf(operation['requestBody']);
  const body = objectOf(objectOf(objectOf(request['content'])['application/json'])['schema']);
  const { properties, required } = resolved(body, components);
  if (isJsonObject(properties)) {
    const names = (required ?? []) as readonly string[];
    for (const [name, schema] of Object.entries(properties)) {
      add(name, { part: 'body', name }, schema, names.includes(name));
    }
  } else if (Object.keys(body).length > 0) {
    made.isBodyWhole = true;
    add('body', { part: 'body', name: 'body' }, body, request['required'] === true);
  }
  addParameters(true);
  return made;
}

/** The first successful response with what the agent gets of it. */
function resultOf({ definition, operation, components }: ToolSource): {
  readonly schema: JsonObject;
  readonly isWrapped: boolean;
} {
  const responses = objectOf(operation['responses']);
  const status = ['200', '201', '202'].find((one) => one in responses) ?? '200';
  const content = objectOf(objectOf(responses[status])['content']);
  const answered = objectOf(objectOf(content['application/json'])['schema']);
  const whole = resolved(answered, components);
  if (whole['type'] === 'object')
    return { schema: keptSchema(whole, definition.kept, components), isWrapped: false };
  const schema = { type: 'object', properties: { result: answered }, required: ['result'] };
  return { schema, isWrapped: true };
}

/** The schema with the kept fields of `data`, of each item of it, or of itself without `data`. */
function keptSchema(
  schema: JsonObject,
  kept: readonly string[] | undefined,
  components: JsonObject,
): JsonObject {
  if (kept === undefined) return schema;
  const whole = resolved(schema, components);
  const properties = objectOf(whole['properties']);
  const { data } = properties;
  if (isJsonObject(data)) {
    const inner = keptSchema(data, kept, components);
    return { ...whole, properties: { ...properties, data: inner } };
  }
  if (isJsonObject(whole['items'])) {
    return { ...whole, items: keptSchema(whole['items'], kept, components) };
  }
  const required = ((whole['required'] ?? []) as readonly string[]).filter((name) =>
    kept.includes(name),
  );
  const shown = Object.entries(properties).filter(([name]) => kept.includes(name));
  return { ...whole, properties: Object.fromEntries(shown), required };
}

const componentsPath = '#/components/schemas/';

/** The schema with the definitions that it refers to, so that it stands alone. */
function withDefinitions(schema: JsonObject, components: JsonObject): JsonObject {
  const definitions: Record<string, Json> = {};
  const moved = (value: Json): Json => {
    if (Array.isArray(value)) return value.map((item: Json) => moved(item));
    if (!isJsonObject(value)) return value;
    const { $ref: reference } = value;
    const name =
      typeof reference === 'string' && reference.startsWith(componentsPath)
        ? reference.slice(componentsPath.length)
        : null;
    if (name !== null && !(name in definitions)) {
      // Before it is filled, because definitions may refer to themselves.
      definitions[name] = {};
      definitions[name] = moved(components[name] ?? {});
    }
    const entries = Object.entries(value).map(([key, item]) => [key, moved(item)] as const);
    return {
      ...Object.fromEntries(entries),
      ...(name === null ? {} : { $ref: `#/$defs/${name}` }),
    };
  };
  const whole = moved(schema) as JsonObject;
  return Object.keys(definitions).length === 0 ? whole : { ...whole, $defs: definitions };
}

const toolNames = new Map(toolDefinitions.map(({ endpoint, name }) => [endpoint, name] as const));

/** Texts of the API name operations; the agent knows them as tools. */
export const inToolNames = (text: string): string =>
  text.replace(
    /\b(?:GET|POST|PUT|PATCH|DELETE) \/[\w/{}.-]{0,100}[\w}]/g,
    (endpoint) => toolNames.get(endpoint) ?? endpoint,
  );
