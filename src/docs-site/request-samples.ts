/** Programs that send a request: what the page of the API shows for each operation, and what a test runs. */

import { shellWord } from '#kernel/shell.ts';

/** Part of an OpenAPI document; other fields are not read. */
export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, ApiOperation>>>>;
}

export interface ApiOperation {
  readonly operationId: string;
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly ApiParameter[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly example?: unknown }>>;
  };
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, unknown>> }>
  >;
}

export interface ApiParameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly example?: unknown;
  readonly schema?: {
    readonly examples?: readonly unknown[];
    readonly enum?: readonly unknown[];
    readonly type?: string;
  };
}

/** A request with example values. */
export interface SampleRequest {
  readonly method: string;
  /** With names of parameters in braces, as the document has it. */
  readonly path: string;
  readonly params: Fields;
  readonly query: Fields;
  readonly headers: Fields;
  /** Undefined: no body. */
  readonly body: unknown;
  readonly hasKey: boolean;
  readonly answersJson: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

/** Any value that the parameter accepts, as its schema shows it. */
export function exampleOf({ example, schema }: ApiParameter): unknown {
  const shown = example ?? schema?.examples?.[0] ?? schema?.enum?.[0];
  if (shown !== undefined) return shown;
  if (schema?.type === 'integer' || schema?.type === 'number') return 1;
  return schema?.type === 'boolean' ? true : '…';
}

/** The request with every required parameter, and the example of the body. */
export function sampleRequest(
  method: string,
  path: string,
  operation: ApiOperation,
): SampleRequest {
  const required = (place: string): Fields =>
    Object.fromEntries(
      (operation.parameters ?? [])
        .filter((parameter) => parameter.in === place && parameter.required === true)
        .map((parameter) => [parameter.name, exampleOf(parameter)]),
    );
  const answers = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'));
  return {
    method: method.toUpperCase(),
    path,
    params: required('path'),
    query: required('query'),
    headers: required('header'),
    body: operation.requestBody?.content['application/json']?.example,
    hasKey: (operation.security ?? []).length > 0,
    answersJson: answers.some(([, { content }]) =>
      content === undefined ? true : 'application/json' in content,
    ),
  };
}

/** Path and query with their values. */
export function addressOf({
  path,
  params,
  query,
}: Pick<SampleRequest, 'path' | 'params' | 'query'>): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    // The path at a provider keeps its slashes.
    textOf(params[name]).split('/').map(encodeURIComponent).join('/'),
  );
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) =>
      [value].flat().map((one): [string, string] => [name, textOf(one)]),
    ),
  ).toString();
  return search === '' ? filled : `${filled}?${search}`;
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value ?? '');

/** Headers but that of the key. */
const headersOf = ({ headers, body }: SampleRequest): readonly (readonly [string, string])[] => [
  ...Object.entries(headers).map(([name, value]) => [name, textOf(value)] as const),
  ...(body === undefined ? [] : [['content-type', 'application/json'] as const]),
];

const lines = (value: unknown): string => JSON.stringify(value, null, 2);

function curl(request: SampleRequest): string {
  const options = [
    ...(request.method === 'GET' ? [] : [`-X ${request.method}`]),
    ...(request.hasKey ? ['-H "Authorization: Bearer $SVC_KEY"'] : []),
    ...headersOf(request).map(([name, value]) => `-H ${shellWord(`${name}: ${value}`)}`),
    ...(request.body === undefined ? [] : [`-d ${shellWord(lines(request.body))}`]),
  ];
  return [`curl "$SVC_URL"${shellWord(addressOf(request))}`, ...options].join(' \\\n  ');
}

/** A text in single quotes. */
function quoted(text: string): string {
  const inside = JSON.stringify(text).slice(1, -1);
  return `'${inside.replaceAll(String.raw`\"`, '"').replaceAll("'", String.raw`\'`)}'`;
}

/** A value as JavaScript writes it. */
function inScript(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inScript).join(', ')}]`;
  if (typeof value === 'string') return quoted(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => {
    const key = /^[A-Za-z_]\w*$/.test(name) ? name : quoted(name);
    return `${key}: ${inScript(member)}`;
  });
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

function typescript(request: SampleRequest): string {
  const { method, path, params, query, headers, body, hasKey, answersJson } = request;
  const key = hasKey ? 'process.env.SVC_KEY!' : "''";
  const opening = `import { createClient } from 'svc/client';

const client = createClient({ url: process.env.SVC_URL!, key: ${key} });`;
  if (!answersJson) {
    const sent = headersOf(request);
    const members = [
      `method: ${inScript(method)}`,
      ...(sent.length === 0 ? [] : [`headers: ${inScript(Object.fromEntries(sent))}`]),
      ...(body === undefined ? [] : [`body: JSON.stringify(${inScript(body)})`]),
    ];
    return `${opening}
const response = await client.fetch(${inScript(addressOf(request))}, { ${members.join(', ')} });
console.log(response.status, await response.text());`;
  }
  const parts = Object.entries({ params, query, headers, body })
    .filter(([, part]) => part !== undefined && Object.keys(part as object).length > 0)
    .map(([name, part]) => `  ${name}: ${inScript(part)},\n`);
  const input = parts.length === 0 ? '' : `, {\n${parts.join('')}}`;
  return `${opening}
const answer = await client.request(${inScript(`${method} ${path}`)}${input});
console.log(answer);`;
}

/** A value as Python writes it. */
function inPython(value: unknown, margin: string): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const inner = `${margin}    `;
  const members = Array.isArray(value)
    ? value.map((member: unknown) => inPython(member, inner))
    : Object.entries(value).map(
        ([name, member]) => `${JSON.stringify(name)}: ${inPython(member, inner)}`,
      );
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  if (members.length === 0) return `${open}${close}`;
  return `${open}\n${members.map((member) => `${inner}${member},\n`).join('')}${margin}${close}`;
}

function python(request: SampleRequest): string {
  const { method, body, hasKey } = request;
  const headers = [
    ...(hasKey ? ['"authorization": "Bearer " + os.environ["SVC_KEY"]'] : []),
    ...headersOf(request).map(
      ([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`,
    ),
  ];
  const data = body === undefined ? '' : `body = ${inPython(body, '')}\n`;
  return `${body === undefined ? '' : 'import json\n'}import os
import urllib.request

${data}request = urllib.request.Request(
    os.environ["SVC_URL"] + ${JSON.stringify(addressOf(request))},
    method=${JSON.stringify(method)},
${body === undefined ? '' : '    data=json.dumps(body).encode(),\n'}    headers={
${headers.map((header) => `        ${header},\n`).join('')}    },
)
with urllib.request.urlopen(request) as response:
    print(response.status, response.read().decode())`;
}

function go(request: SampleRequest): string {
  const { method, body, hasKey } = request;
  const text = body === undefined ? '' : lines(body);
  const quoted = text.includes('`') ? JSON.stringify(text) : `\`${text}\``;
  const headers = [
    ...(hasKey ? [`"Authorization", "Bearer "+os.Getenv("SVC_KEY")`] : []),
    ...headersOf(request).map(
      ([name, value]) => `${JSON.stringify(name)}, ${JSON.stringify(value)}`,
    ),
  ];
  const check = '\tif err != nil {\n\t\tpanic(err)\n\t}\n';
  return `package main

import (
\t"fmt"
\t"io"
\t"net/http"
\t"os"
${body === undefined ? '' : '\t"strings"\n'})

func main() {
${body === undefined ? '' : `\tbody := strings.NewReader(${quoted})\n`}\turl := os.Getenv("SVC_URL") + ${JSON.stringify(addressOf(request))}
\trequest, err := http.NewRequest(${JSON.stringify(method)}, url, ${body === undefined ? 'nil' : 'body'})
${check}${headers.map((header) => `\trequest.Header.Set(${header})\n`).join('')}\tresponse, err := http.DefaultClient.Do(request)
${check}\tdefer response.Body.Close()
\tanswer, err := io.ReadAll(response.Body)
${check}\tfmt.Println(response.StatusCode, string(answer))
}`;
}

/** By the name that the page shows. */
export const languages = {
  curl,
  TypeScript: typescript,
  Python: python,
  Go: go,
} as const satisfies Readonly<Record<string, (request: SampleRequest) => string>>;
