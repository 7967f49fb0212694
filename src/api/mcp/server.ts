import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { RouteAnswer } from '../../http/define-route.ts';
import { jsonObject } from '../../http/fields.ts';
import { callTool, listTools, type ToolCaller } from './tools.ts';

/** The part of a request that the protocol needs. */
interface Message {
  readonly body: unknown;
  readonly protocolVersion: string | undefined;
  /** Of this package. */
  readonly version: string;
}

/** Arguments as they were parsed: the library's own schema drops a key `__proto__`. */
const callRequest = CallToolRequestSchema.extend({
  params: CallToolRequestSchema.shape.params.extend({ arguments: jsonObject.optional() }),
});

/** Answers one JSON-RPC message or a batch. Stateless. */
export async function answerMessage(caller: ToolCaller, message: Message): Promise<RouteAnswer> {
  const info = { name: 'svc', version: message.version };
  const { server } = new McpServer(info, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: listTools(caller) }));
  server.setRequestHandler(callRequest, ({ params }) =>
    callTool(caller, params.name, params.arguments),
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
