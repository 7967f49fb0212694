import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { JsonObject } from '#kernel/stable-json.ts';
import { checkedFetch } from '../judges/answers.ts';

/** A client of the protocol's own library that manages an environment. */
export interface ManagementClient extends AsyncDisposable {
  readonly client: Client;
  /** The tool's structured result. @throws Error with its text, if it is a refusal */
  call(tool: string, args?: JsonObject): Promise<JsonObject>;
  /** The error of a refusal. @throws Error if it is none */
  refusal(tool: string, args?: JsonObject): Promise<JsonObject>;
}

/** What a result says, as a model reads it. */
export const textOf = ({ content }: Awaited<ReturnType<Client['callTool']>>): string =>
  (content as readonly { readonly text: string }[]).map(({ text }) => text).join('\n');

export async function openManagementClient(
  { url, key }: { readonly url: string; readonly key: string },
  {
    mayWrite = false,
    name = 'agent',
  }: { readonly mayWrite?: boolean; readonly name?: string } = {},
): Promise<ManagementClient> {
  const client = new Client({ name, version: '1.0.0' });
  const address = new URL(`/mcp/management${mayWrite ? '?write=true' : ''}`, url);
  const transport = new StreamableHTTPClientTransport(address, {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
    fetch: (target, init) => checkedFetch(String(target), init),
  });
  await client.connect(transport);
  const called = (tool: string, args: JsonObject) =>
    client.callTool({ name: tool, arguments: args });
  return {
    client,
    async call(tool, args = {}) {
      const result = await called(tool, args);
      if (result.isError === true) throw new Error(`${tool}: ${textOf(result)}`);
      return result.structuredContent as JsonObject;
    },
    async refusal(tool, args = {}) {
      const result = await called(tool, args);
      if (result.isError !== true) throw new Error(`${tool} is not refused: ${textOf(result)}`);
      return (JSON.parse(textOf(result)) as { readonly error: JsonObject }).error;
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}
