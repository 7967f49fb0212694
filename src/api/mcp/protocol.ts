import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import {
  CallToolRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  type CallToolResult,
  type ListToolsResult,
  type ReadResourceResult,
  type Resource,
  type ResourceTemplate,
} from '@modelcontextprotocol/sdk/types.js';
import type { RouteAnswer } from '#http/define-route.ts';
import { jsonObject } from '#http/fields.ts';
import type { JsonObject } from '#kernel/stable-json.ts';

/** The part of a request that the protocol needs. */
export interface Message {
  readonly body: unknown;
  readonly protocolVersion: string | undefined;
  /** Of this package. */
  readonly version: string;
}

/** The tools that a server offers. */
export interface ToolServer {
  /** How a model uses the tools together. */
  readonly instructions?: string;
  readonly resources?: ResourceServer;
  listTools(cursor: string | undefined): ListToolsResult;
  callTool(name: string, input: JsonObject | undefined): Promise<CallToolResult>;
}

/** The texts that a server offers. */
export interface ResourceServer {
  list(): Resource[];
  templates(): ResourceTemplate[];
  /** @throws McpError */
  read(uri: string): Promise<ReadResourceResult>;
}

/** Arguments as they were parsed: the library's own schema drops a key `__proto__`. */
const callRequest = CallToolRequestSchema.extend({
  params: CallToolRequestSchema.shape.params.extend({ arguments: jsonObject.optional() }),
});

/** Answers one JSON-RPC message or a batch. Stateless. */
export async function answerWith(tools: ToolServer, message: Message): Promise<RouteAnswer> {
  const info = { name: 'svc', version: message.version };
  const { instructions, resources } = tools;
  const { server } = new McpServer(info, {
    capabilities: { tools: {}, ...(resources === undefined ? {} : { resources: {} }) },
    ...(instructions === undefined ? {} : { instructions }),
  });
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => tools.listTools(params?.cursor));
  if (resources !== undefined) offerResources(server, resources);
  server.setRequestHandler(callRequest, ({ params }) =>
    tools.callTool(params.name, params.arguments),
  );
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  try {
    await server.connect(transport);
    const answer = await transport.handleRequest(requestOf(message), { parsedBody: message.body });
    const text = await answer.text();
    return { status: answer.status, ...(text === '' ? {} : { body: Buffer.from(text) }) };
  } finally {
    await server.close();
  }
}

function offerResources(server: McpServer['server'], resources: ResourceServer): void {
  server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: resources.list() }));
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({
    resourceTemplates: resources.templates(),
  }));
  server.setRequestHandler(ReadResourceRequestSchema, ({ params }) => resources.read(params.uri));
}

/** Responses are JSON, whatever the client accepts. */
function requestOf({ body, protocolVersion }: Message): Request {
  return new Request('http://localhost/mcp', {
    method: 'POST',
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...(protocolVersion === undefined ? {} : { 'mcp-protocol-version': protocolVersion }),
    },
    body: JSON.stringify(body),
  });
}
