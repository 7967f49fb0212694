import { escapedMarkup } from '#kernel/markup.ts';
import { shellWord } from '#kernel/shell.ts';
import type { Provider } from '#modules/connections/providers/definition.ts';
import { codeBlock } from './provider-html.ts';

const nextLine = ' \\\n  ';

interface ExampleCall {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Undefined: none. */
  readonly body: unknown;
}

/** The call that tests credentials where it is one of the API itself; values of a connection become placeholders. */
function exampleCallOf({ proxy }: Provider): ExampleCall {
  const { verification: call } = proxy ?? {};
  if (call === undefined || call.base_url_override !== undefined)
    return { method: 'GET', path: '/path', body: undefined };
  const { method = 'GET', endpoints, data } = call;
  const path = (endpoints[0] ?? '')
    .replace(/^\/*/, '/')
    .replaceAll(/\$\{(?:\w+\.)*(\w+)\}/g, '<$1>');
  return { method, path, body: method === 'POST' ? data : undefined };
}

/** How an application connects an account and calls the API, and how a function does. */
export function examplesOf(provider: Provider, publicUrl: string): string {
  const { name } = provider;
  const { method, path, body } = exampleCallOf(provider);
  const authorization = '-H "authorization: Bearer $SVC_SECRET_KEY_DEV"';
  const json = "-H 'content-type: application/json'";
  const session = { end_user: { id: 'user-1' }, allowed_integrations: [name] };
  const connect = [
    `curl -s ${shellWord(`${publicUrl}/connect/sessions`)}`,
    authorization,
    `${json} -d ${shellWord(JSON.stringify(session))}`,
  ];
  const call = [
    `curl -s ${method === 'POST' ? '-X POST ' : ''}${shellWord(`${publicUrl}/proxy${path}`)}`,
    authorization,
    `-H ${shellWord(`provider-config-key: ${name}`)} -H 'connection-id: <connection id>'`,
    ...(body === undefined ? [] : [`${json} -d ${shellWord(JSON.stringify(body))}`]),
  ];
  const fields = [
    `endpoint: ${JSON.stringify(path)}`,
    ...(body === undefined ? [] : [`data: ${JSON.stringify(body)}`]),
  ].join(', ');
  const action = `import { createAction } from 'svc';
import { z } from 'zod';

export default createAction({
  description: 'Calls the provider.',
  version: '1.0.0',
  input: z.object({}),
  output: z.unknown(),
  exec: async (svc) => (await svc.${method.toLowerCase()}({ ${fields} })).data,
});`;
  return `<h3 id="connect">Connect an account</h3>
<p>For an integration with the key <code>${escapedMarkup(name)}</code>. The answer has a <code>connect_link</code>, at which the user connects.</p>
${codeBlock('sh', connect.join(nextLine))}
<h3 id="call">Call the API</h3>
${codeBlock('sh', call.join(nextLine))}
<h3 id="function">In a function</h3>
${codeBlock('ts', action)}`;
}
