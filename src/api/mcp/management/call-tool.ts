import { randomUUID } from 'node:crypto';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { closest } from 'fastest-levenshtein';
import type { Caller, RouteAnswer } from '#http/define-route.ts';
import { refusalOf } from '#http/error-response.ts';
import { GatewayError } from '#kernel/errors.ts';
import { readOnlyRefusal } from '#kernel/read-only.ts';
import { isJsonObject, objectOf, type Json, type JsonObject } from '#kernel/stable-json.ts';
import { callRoute } from '../../call-route.ts';
import type { Services } from '../../services.ts';
import { answerWith, type Message } from '../protocol.ts';
import { inToolNames, type FieldPlace, type ManagementTool } from './describe-tools.ts';
import { instructions } from './tools.ts';

/** Who calls tools, and which of them. */
export interface AgentCall {
  readonly caller: Caller;
  readonly services: Services;
  readonly address: string;
  readonly signal: AbortSignal;
  /** Whether the client asked for tools that change something. */
  readonly mayWrite: boolean;
}

/** Whether the key and the client's choice open the tool. */
const isOffered = (
  { route, isWrite }: ManagementTool,
  { caller, mayWrite }: Pick<AgentCall, 'caller' | 'mayWrite'>,
): boolean =>
  (mayWrite || !isWrite) &&
  (route.scopes.length === 0 || route.scopes.some((scope) => caller.has(scope)));

/** Answers one message of the agent. */
export const answerAgent = (
  tools: readonly ManagementTool[],
  call: AgentCall,
  message: Message,
): Promise<RouteAnswer> =>
  answerWith(
    {
      instructions,
      listTools: () => ({
        tools: tools.filter((one) => isOffered(one, call)).map(({ tool }) => tool),
      }),
      callTool: (name, args = {}) => callTool(tools, name, args, call),
    },
    message,
  );

/** Calls the operation of the tool; a refusal is a result too, so that a model reads it. */
async function callTool(
  tools: readonly ManagementTool[],
  name: string,
  args: JsonObject,
  call: AgentCall,
): Promise<CallToolResult> {
  const found = tools.find(({ tool }) => tool.name === name);
  const path = `tools/${found?.tool.name ?? 'unknown'}`;
  try {
    if (found === undefined) throw unknownTool(name, tools);
    const answer = await answerOf(found, args, call);
    const body = bodyOf(answer);
    if (answer.status >= 400) return failure(body);
    return success(found, body);
  } catch (error) {
    const facts = { requestId: randomUUID(), method: 'POST', path };
    return failure(refusalOf(error, facts, call.services.logger).body as Json);
  }
}

function unknownTool(name: string, tools: readonly ManagementTool[]): GatewayError {
  const near = closest(
    name,
    tools.map(({ tool }) => tool.name),
  );
  return new GatewayError('not_found', {
    message: `There is no tool "${name.slice(0, 100)}".`,
    fix: `Call a tool that tools/list names, such as ${near}.`,
  });
}

function answerOf(found: ManagementTool, args: JsonObject, call: AgentCall): Promise<RouteAnswer> {
  const { caller, services, address, signal } = call;
  const { route, tool, isWrite } = found;
  if (isWrite && services.settings.isReadOnly) throw readOnlyRefusal();
  if (isWrite && !call.mayWrite) {
    throw new GatewayError('forbidden', {
      message: `The tool "${tool.name}" changes something, and this client only reads.`,
      fix: 'Ask the person to add ?write=true to the address of this server.',
    });
  }
  const parts = partsOf(found, args);
  return callRoute(
    {
      match: { route, params: parts.path },
      caller,
      request: { headers: parts.headers, url: route.path },
      search: parts.search,
      address,
      signal,
      readBody: () => Promise.resolve(parts.body),
    },
    services,
  );
}

interface RequestParts {
  readonly path: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly search: string;
  readonly body: Json;
}

/** @throws GatewayError `invalid_body` for an argument that the tool does not have */
function partsOf({ definition, tool, places, isBodyWhole }: ManagementTool, args: JsonObject) {
  const { fixed = {} } = definition;
  const path: Record<string, string> = {};
  const headers: Record<string, string> = {};
  const search: string[] = [];
  const body: Record<string, Json> = {};
  let whole: Json | undefined;
  const add = ({ part, name }: FieldPlace, value: Json): void => {
    if (part === 'path') path[name] = encodeURIComponent(textOf(value));
    else if (part === 'header') headers[name] = textOf(value);
    else if (part === 'query') search.push(...queryOf(name, value));
    else if (isBodyWhole) whole = value;
    else body[name] = value;
  };
  for (const [name, value] of Object.entries(args)) {
    const place = places.get(name);
    if (place === undefined) throw unknownArgument(name, tool.name, [...places.keys()]);
    add(place, value);
  }
  for (const [name, value] of Object.entries(fixed)) add({ part: 'query', name }, value);
  return { path, headers, search: search.join('&'), body: whole ?? body } satisfies RequestParts;
}

const textOf = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** As `parseQuery` reads it. */
function queryOf(name: string, value: Json): string[] {
  const pair = (key: string, item: Json): string =>
    `${encodeURIComponent(key)}=${encodeURIComponent(textOf(item))}`;
  if (Array.isArray(value)) return value.map((item: Json) => pair(`${name}[]`, item));
  if (!isJsonObject(value)) return [pair(name, value)];
  return Object.entries(value).map(([key, item]) => pair(`${name}[${key}]`, item));
}

function unknownArgument(name: string, tool: string, known: readonly string[]): GatewayError {
  const allowed = known.length === 0 ? 'It takes none.' : `Allowed: ${known.join(', ')}.`;
  const message = `The tool "${tool}" has no argument "${name.slice(0, 100)}". ${allowed}`;
  return new GatewayError('invalid_body', {
    message,
    errors: [{ code: 'unrecognized_keys', message, path: [name.slice(0, 100)] }],
  });
}

/** Pages of records are bytes. */
const bodyOf = ({ body }: RouteAnswer): Json =>
  Buffer.isBuffer(body) ? (JSON.parse(body.toString()) as Json) : ((body ?? null) as Json);

function success({ definition, isWrapped }: ManagementTool, body: Json): CallToolResult {
  const result = isWrapped ? { result: body } : keptOf(body, definition.kept);
  return {
    content: [
      { type: 'text', text: JSON.stringify(result) },
      { type: 'text', text: `Next: ${definition.next}` },
    ],
    structuredContent: objectOf(result),
  };
}

/** The kept fields of `data`, of each item of it, or of the result itself without `data`. */
function keptOf(value: Json, kept: readonly string[] | undefined): Json {
  if (kept === undefined) return value;
  if (Array.isArray(value)) return value.map((item: Json) => keptOf(item, kept));
  const fields = objectOf(value);
  if ('data' in fields) return { ...fields, data: keptOf(fields['data'] ?? null, kept) };
  return Object.fromEntries(Object.entries(fields).filter(([name]) => kept.includes(name)));
}

function failure(body: Json): CallToolResult {
  return { isError: true, content: [{ type: 'text', text: inToolNames(JSON.stringify(body)) }] };
}
